"""Revealing: puts hidden files into a workspace whose content is not trusted."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from runner.datasets.dataset import TaskCheck
from runner.datasets.removal import remove
from runner.errors import DatasetError, PathEscapeError
from runner.records import sha256_of


def reveal_hidden_files(check: TaskCheck, dataset_path: Path, workspace: Path) -> None:
    """Copy the hidden files of ``check`` into ``workspace``, over what lies there, never through a link.

    Raises:
        DatasetError: a file changed or vanished since the dataset was loaded.
        PathEscapeError: a target would leave the workspace.
    """
    root = workspace.resolve(strict=True)
    for file in check.hidden:
        data = _unchanged(dataset_path.parent / file.source, file.sha256)
        parts = PurePosixPath(file.target).parts
        if not parts or ".." in parts or file.target.startswith("/"):
            raise PathEscapeError("a hidden file would leave the workspace", where=file.target)
        target = _clear_way(root, parts)
        mode = 0o755 if file.executable else 0o644
        descriptor = os.open(
            target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode
        )
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)


def _clear_way(root: Path, parts: tuple[str, ...]) -> Path:
    """The path of ``parts`` below ``root``, its folders real folders and itself free."""
    path = root
    for part in parts[:-1]:
        path = path / part
        if path.is_symlink() or not path.is_dir():
            remove(path)
        path.mkdir(exist_ok=True)
        path.chmod(path.lstat().st_mode | stat.S_IRWXU)
    path = path / parts[-1]
    remove(path)
    return path


def _unchanged(path: Path, sha256: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"a hidden file cannot be read: {error.strerror}",
            where=str(path),
            remedy="restore it, then run again",
        ) from None
    if sha256_of(data) != sha256:
        raise DatasetError(
            "a hidden file changed while the run was going on",
            where=str(path),
            remedy="leave dataset files alone during a run; start a new run with the changed dataset",
        )
    return data
