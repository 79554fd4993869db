"""Atomic writes: a file or a folder is there whole or not at all, and is never overwritten."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from runner.errors import OverwriteError, StoreError

WRITING = ".writing-"
"""How the name of a file begins while it is being written."""


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns a refusal of the file system into a StoreError about ``path``."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"could not write: {error.strerror}", where=str(path), remedy="check space and rights"
        ) from None


def write_once(path: Path, data: bytes, listed: Callable[[], None] = lambda: None) -> bool:
    """Write ``data`` to ``path`` unless the same bytes are there already.

    Temporary file in the same folder, flush, fsync, then a hard link under the final name, which fails
    where a name exists: two writers can never replace each other's file.

    Args:
        path: of the file.
        data: all of it.
        listed: called when the file is there, to list it elsewhere. The temporary file stays until then, so
            that a file that was written and not listed is told from one that somebody put there.

    Returns:
        True when the file was written, False when it held the same bytes.

    Raises:
        OverwriteError: the file exists with other content.
        StoreError: the file system refused the write.
    """
    with explained(path):
        if path.is_file() and path.read_bytes() == data:
            listed()
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        stream, temporary = _locked_temporary(path.parent)
        with stream:
            try:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
                temporary.chmod(0o644)
                new = _link(temporary, path)
                sync_folder(path.parent)
                if not new and path.read_bytes() != data:
                    raise OverwriteError(
                        "a record is never overwritten",
                        where=str(path),
                        remedy="write a correction or use the next trial number",
                    )
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            listed()
            temporary.unlink(missing_ok=True)
    return new


def _locked_temporary(folder: Path) -> tuple[BinaryIO, Path]:
    """A new file, locked while this process lives: how a left-over is told from a file being written."""
    while True:
        descriptor, temporary = tempfile.mkstemp(prefix=WRITING, dir=folder)
        stream, path = os.fdopen(descriptor, "wb"), Path(temporary)
        try:
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:
            # Some network file systems know no locks.
            stream.close()
            path.unlink(missing_ok=True)
            raise
        if path.exists():
            return stream, path
        # Whoever removes left-overs was there before the lock.
        stream.close()


def _link(temporary: Path, path: Path) -> bool:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    return True


def remove_interrupted(folder: Path, left: Callable[[Path, bytes], None] = lambda *_: None) -> None:
    """Remove files that a process which is gone had begun to write in ``folder``.

    Args:
        folder: where to look, not below it.
        left: gets each file that was written whole and may not have been listed, with its content.
    """
    for temporary in folder.glob(f"{WRITING}*"):
        with contextlib.suppress(OSError), temporary.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            data = stream.read()
            for path in folder.iterdir():
                if path.name.startswith(WRITING) or not path.is_file() or path.is_symlink():
                    continue
                if path.stat().st_size == len(data) and path.read_bytes() == data:
                    left(path, data)
            temporary.unlink(missing_ok=True)


def publish_folder(target: Path, files: Mapping[str, bytes], *, staging: Path) -> None:
    """Make the folder ``target`` with ``files`` (content by path below it) in one step.

    The folder is made whole below ``staging`` and renamed; where that fails, nothing is left behind.

    Raises:
        OverwriteError: ``target`` exists and is not empty.
        StoreError: the file system refused the write.
    """
    with explained(target):
        staging.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(dir=staging))
        try:
            staged.chmod(0o755)
            for path, data in files.items():
                _write_durably(staged / path, data)
            for folder in sorted({(staged / path).parent for path in files} | {staged}, reverse=True):
                sync_folder(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            _rename(staged, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    sync_folder(target.parent)


def _write_durably(path: Path, data: bytes) -> None:
    """Write a file of a staged folder: nobody sees it before the folder is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(0o644)


def _rename(staged: Path, target: Path) -> None:
    try:
        staged.rename(target)
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise OverwriteError(
                "a trial is never overwritten", where=str(target), remedy="use the next trial number"
            ) from None
        raise


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, where the platform allows opening one."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
