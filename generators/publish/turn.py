"""Turn: one build at a time in one project; a second one waits."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = "build.lock"
_FRESH = "site-"


@contextmanager
def turn(build: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold the build folder ``build`` alone; ``waiting`` is told once when another process has it.

    The lock is the operating system's, so it ends with the process that holds it, however that ends.
    """
    build.mkdir(parents=True, exist_ok=True)
    with (build / _LOCK).open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting("waiting for another build of this project to end")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


@contextmanager
def fresh_folder(build: Path, subpath: str) -> Iterator[Path]:
    """A folder below ``build`` that does not exist yet, whose path ends in ``subpath``; gone at the end.

    Only for the process whose turn it is: what an interrupted build left behind is removed first.
    """
    for left in build.glob(f"{_FRESH}*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_FRESH, dir=build) as holder:
        yield Path(holder).joinpath(subpath or "site")
