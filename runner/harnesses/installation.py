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
    """What a program needs to run."""

    NONE = "none"
    NODE = "node"
    """Installed below the same folder, as is Bun."""
    BUN = "bun"
    PYTHON = "python"
    """One that is on the machine; the program's folder links to it."""


@dataclass(frozen=True)
class Installation:
    """One pinned program."""

    source: Source
    package: str
    """Name in the registry."""
    version: str
    """The exact version that the module was written against."""
    executable: str = ""
    """Program below the harness's own folder, with forward slashes; marks as in ``Machine.fill``.

    A Python program has none: it is started by a launcher.
    """
    runtime: Runtime = Runtime.NONE
    extras: tuple[str, ...] = ()
    """Of a Python program: the extras of its package that it is installed with."""
    script: str = ""
    """Of a Python program: the console script of its package that starts it. Nothing for a library.

    A library is used by a file of the harness's own, which the launcher runs.
    """
    python: str = ""
    """Of a Python program: the version it needs, such as ``3.12``; empty for that which runs Harnessmark."""
    constraints: Path | None = None
    """Of a program outside the project: the file that pins every package it needs, beside its module.

    Those of the project stand together, named after their packages: constraints of pip, or locks of npm.
    """
    built: tuple[str, ...] = ()
    """Of a Python program: those packages that its registry has as source only.

    They are built while it is installed, which runs their code; of all others none runs.
    """
    unpacks: str = ""
    """Variable naming the folder into which the program unpacks itself at its first start, if it does so.

    That start is made while it is installed, so that no run unpacks it again or runs what another one wrote.
    """
    beside: tuple[str, ...] = ()
    """Further packages of its registry, with their versions, such as what it would fetch while it runs."""
    tools: tuple[str, ...] = ()
    """Folders below the harness's own in which commands of these lie, with marks as in ``executable``."""
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

    def variables(self, folder: Path) -> dict[str, str]:
        """What the program in ``folder`` must find in its environment at every start."""
        return {self.unpacks: str(folder.absolute() / "unpacked")} if self.unpacks else {}

    def tool_folders(self, folder: Path) -> tuple[Path, ...]:
        """Where the program in ``folder`` finds the commands that were installed beside it."""
        names = map(this_machine().fill, self.tools)
        return tuple(folder.absolute().joinpath(*name.split("/")) for name in names)
