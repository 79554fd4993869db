"""Stand-ins for installed programs: scripts that say a version, or play what they are given."""

from __future__ import annotations

from pathlib import Path

from runner.harnesses.base import Harness
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.interpreters import interpreter
from runner.harnesses.programs import RUNTIMES, program_command, runtime_program
from runner.harnesses.python_program import LINK, finish
from tests.harnesses.kiro_standin import put_stand_in


def put_script(path: Path, text: str) -> None:
    """An executable shell script at ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def put_program(installation: Installation, installed: Path, name: str, *, says: str | None = None) -> None:
    """A program that says its pinned version, or ``says``, and its runtime, which runs it with a shell."""
    *runtime, program = program_command(installation, installed, name)
    if installation.runtime is Runtime.PYTHON:
        folder = Path(program).parent
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LINK).unlink(missing_ok=True)
        # Any interpreter does: a stand-in needs no packages.
        finish(installation, folder, interpreter("", ""))
        Path(program).write_text(f"print({says or installation.version!r})\n", encoding="utf-8")
        return
    put_script(Path(program), f"echo '{says or installation.version}'")
    if runtime and installation.runtime is not Runtime.NONE:
        version = RUNTIMES[installation.runtime].version
        put_script(
            runtime_program(installation.runtime, installed),
            f'if [ "$1" = --version ]; then echo v{version}; else exec /bin/sh "$@"; fi',
        )


def pretend_installed(harness: Harness, installed: Path) -> None:
    """Stand-ins for everything ``harness`` needs to be started."""
    if harness.installation is None:
        return
    if harness.installation.source is Source.BY_HAND:
        put_stand_in(installed / "bin")
    else:
        put_program(harness.installation, installed, harness.name)
