"""Installation: how a harness's program gets onto this machine, at one pinned version, below one folder."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from runner.harnesses.machine import Machine, this_machine


class Source(StrEnum):
    """Where a program comes from."""

    NPM = "npm"
    PYPI = "pypi"
    BY_HAND = "by-hand"
    """No registry has it; the user installs it and it is found on the search path."""


class Runtime(StrEnum):
    """What a program needs to run, installed below the same folder."""

    NONE = "none"
    NODE = "node"
    BUN = "bun"
    PYTHON = "python"


@dataclass(frozen=True)
class Installation:
    """One pinned program."""

    source: Source
    package: str
    """Name in the registry."""
    version: str
    """The exact version that the module was written against."""
    executable: str
    """Program below the harness's own folder, with forward slashes; marks as in ``Machine.fill``."""
    runtime: Runtime = Runtime.NONE
    note: str = ""
    """What a user should know before installing, one sentence."""

    def folder(self, installed: Path, name: str) -> Path:
        """Where the program of harness ``name`` lives below ``installed``."""
        return installed / name / self.version

    def program(self, installed: Path, name: str, machine: Machine | None = None) -> Path:
        """The executable of harness ``name`` below ``installed``.

        Raises:
            ConfigurationError: the program is not packaged for this machine.
        """
        executable = (machine or this_machine()).fill(self.executable)
        return self.folder(installed, name).joinpath(*executable.split("/"))
