"""Atomic writes: a file or a folder is there whole or not at all, and is never overwritten."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from runner.errors import OverwriteError, StoreError


def write_once(path: Path, data: bytes) -> bool:
    """Write ``data`` to ``path`` unless the same bytes are there already.

    Temporary file in the same folder, flush, fsync, then a hard link under the final name, which fails
    where a name exists: two writers can never replace each other's file.

    Returns:
        True when the file was written, False when it held the same bytes.

    Raises:
        OverwriteError: the file exists with other content.
        StoreError: the file system refused the write.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            new = _link(Path(temporary), path)
        finally:
            Path(temporary).unlink(missing_ok=True)
        if not new and path.read_bytes() != data:
            raise OverwriteError(
                "a record is never overwritten",
                where=str(path),
                remedy="write a correction or use the next trial number",
            )
    except OSError as error:
        raise StoreError(
            f"could not write: {error.strerror}", where=str(path), remedy="check space and rights"
        ) from None
    sync_folder(path.parent)
    return new


def _link(temporary: Path, path: Path) -> bool:
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    return True


def publish_folder(staged: Path, target: Path) -> None:
    """Move the finished folder ``staged`` to ``target`` in one step.

    Raises:
        OverwriteError: ``target`` exists and is not empty.
        StoreError: the file system refused the move.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        staged.rename(target)
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}:
            raise OverwriteError(
                "a trial is never overwritten", where=str(target), remedy="use the next trial number"
            ) from None
        raise StoreError(f"could not move into place: {error.strerror}", where=str(target)) from None
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, where the platform allows opening one."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
