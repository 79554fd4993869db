"""Kiro: where the vendor's program is on this machine, and whether it is the real one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ConfigurationError

PROGRAM = "kiro-cli"
STAND_IN_MARK = b"harnessmark-stand-in-for-kiro-cli"
"""In the first bytes of a script that plays recorded transcripts instead."""
HEAD_BYTES = 4096
INSTALL = (
    "install it as https://kiro.dev/docs/cli says and see that `kiro-cli --version` answers; no package "
    "registry has it, and what has that name on PyPI is an unrelated program"
)


@dataclass(frozen=True)
class KiroProgram:
    """The program that the search path leads to."""

    path: Path
    stand_in: bool
    """It plays recorded transcripts: what is made with it is a demonstration, never a result."""

    def parts(self) -> Iterator[Path]:
        """Files that it needs to run: itself, and its other programs, which lie beside it."""
        for place in dict.fromkeys((self.path, self.path.resolve())):
            yield from sorted(place.parent.glob(f"{PROGRAM}*"))


def find_program(search_path: str) -> KiroProgram:
    """The first ``kiro-cli`` on ``search_path``.

    Raises:
        ConfigurationError: there is none; the remedy never names a package.
    """
    found = shutil.which(PROGRAM, path=search_path)
    if found is None:
        raise ConfigurationError(
            f"{PROGRAM} is not installed", where="none of its name on PATH", remedy=INSTALL
        )
    path = Path(found).absolute()
    with path.open("rb") as file:
        return KiroProgram(path, STAND_IN_MARK in file.read(HEAD_BYTES))


def is_stand_in(search_path: str | None = None) -> bool:
    """Whether the program on the search path (this process's own when None) is a stand-in."""
    try:
        return find_program(
            os.environ.get("PATH", os.defpath) if search_path is None else search_path
        ).stand_in
    except ConfigurationError:
        return False
