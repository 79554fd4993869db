"""Interpreters: the Python that runs a harness's program, which need not be the one that runs Harnessmark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from runner.errors import ConfigurationError

ASK_SECONDS = 20.0
QUESTION = "import sys; print('%d.%d' % sys.version_info[:2], sys.base_prefix, sep='\\n')"


def interpreter(version: str, search_path: str) -> Path:
    """An interpreter of ``version``, such as ``3.12``; the running one's own version where it is empty.

    Never one of a virtual environment, which may be gone tomorrow, but the one below it. What is looked at:
    the running one, then ``search_path``, then the folders beside the running one, where version managers
    keep the others; each is started and asked, because what lies on a search path need not work.

    Raises:
        ConfigurationError: there is none.
    """
    running = _named(sys.version_info[:2])
    if version in {"", running}:
        return _base(Path(sys.base_prefix), running) or Path(sys.executable).resolve()
    for candidate in _candidates(version, search_path):
        found = _asked(candidate, version)
        if found is not None:
            return found
    raise ConfigurationError(
        f"Python {version} is not on this machine",
        remedy=f"install Python {version}, so that python{version} starts, and run the command again",
    )


def interpreter_folder(program: Path) -> Path:
    """Where an interpreter keeps its library: the folder above the one it really lies in."""
    return program.resolve().parent.parent


def _candidates(version: str, search_path: str) -> Iterator[Path]:
    name = f"python{version}"
    for folder in filter(None, search_path.split(os.pathsep)):
        yield Path(folder) / name
    yield from sorted(Path(sys.base_prefix).parent.glob(f"*{version}*/bin/{name}"))


def _asked(candidate: Path, version: str) -> Path | None:
    if not os.access(candidate, os.X_OK):
        return None
    try:
        done = subprocess.run(
            [candidate, "-I", "-c", QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said, _, prefix = done.stdout.strip().partition("\n")
    if done.returncode != 0 or said != version:
        return None
    return _base(Path(prefix), version) or candidate.resolve()


def _base(prefix: Path, version: str) -> Path | None:
    program = prefix / "bin" / f"python{version}"
    return program if program.is_file() else None


def _named(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
