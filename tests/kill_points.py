"""Kill points: a process that dies right before its n-th change of a file below a folder."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
PAIRS = frozenset({"os.rename", "os.link", "os.symlink"})
SINGLES = frozenset({"os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "shutil.rmtree"})


class KillPoints:
    """Counts what this process does to files below ``root``, in all its threads, and kills it before one.

    It cannot be taken back: for a process of its own.
    """

    def __init__(self, root: Path, at: int) -> None:
        self._root, self._at, self._count = f"{root.resolve()}{os.sep}", at, 0
        self._lock = threading.RLock()
        self._write, self._fsync = os.write, os.fsync
        os.write, os.fsync = self._counted_write, self._counted_fsync
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES) or event in SINGLES:
            self._changes(arguments[0])
        elif event in PAIRS:
            self._changes(arguments[0], arguments[1])

    def _changes(self, *paths: object) -> None:
        if any(isinstance(each, str | os.PathLike) and self._is_inside(os.fspath(each)) for each in paths):
            self._point()

    def _is_inside(self, path: str) -> bool:
        return f"{Path(path).absolute()}".startswith(self._root)

    def _point(self, before: Callable[[], object] = lambda: None) -> None:
        with self._lock:
            self._count += 1
            if self._count == self._at:
                before()
                os.kill(os.getpid(), signal.SIGKILL)

    def _counted_write(self, descriptor: int, data: Any) -> int:
        if self._is_inside(self._path_of(descriptor)):
            # Every second one is cut in the middle.
            half = bytes(data)[: len(data) // 2 if self._at % 2 else 0]
            self._point(lambda: self._write(descriptor, half))
        return self._write(descriptor, data)

    def _counted_fsync(self, fd: Any) -> None:
        if self._is_inside(self._path_of(fd if isinstance(fd, int) else fd.fileno())):
            self._point()
        self._fsync(fd)

    @staticmethod
    def _path_of(descriptor: int) -> str:
        try:
            return str(Path(f"/proc/self/fd/{descriptor}").readlink())
        except OSError:
            return ""


def killed_at(root: Path, at: int, work: Callable[[], int]) -> int:
    """Do ``work`` in a process of its own that dies at that point; its exit code, ``-SIGKILL`` of a kill.

    For a process without threads: a copy of it is made, so that its modules need not be loaded again.
    """
    child = os.fork()
    if child == 0:
        code = 70
        try:
            if at:
                KillPoints(root, at)
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
