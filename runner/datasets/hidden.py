"""Hidden files: which they are, beside the dataset file."""

from __future__ import annotations

import stat
from pathlib import Path

from pydantic import Field

from runner.records import Part, sha256_of

MAX_FILES = 2000
MAX_BYTES = 20_000_000
IGNORED = {"__pycache__", ".git", ".DS_Store"}


class HiddenFile(Part):
    """One file as it will lie in the workspace."""

    source: str = Field(description="path beside the dataset file")
    target: str = Field(description="path below the workspace")
    sha256: str
    executable: bool = False


def hidden_files_in(folder: Path, name: str) -> tuple[HiddenFile, ...]:
    """Files below ``folder / name`` in order of their paths.

    Raises:
        ValueError: there are none, one of them is a link or no plain file, or they are too many or too large.
    """
    root = folder / name
    if not _is_inside(folder, root) or root.is_symlink() or not root.is_dir():
        raise ValueError(f"there is no folder {name!r} beside the dataset file")
    files: list[HiddenFile] = []
    size = 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if IGNORED & set(relative.parts):
            continue
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            continue
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{name}/{relative.as_posix()} is a link or no plain file")
        size += status.st_size
        if len(files) >= MAX_FILES or size > MAX_BYTES:
            raise ValueError(f"{name!r} holds more than {MAX_FILES} files or {MAX_BYTES:,} bytes")
        files.append(
            HiddenFile(
                source=path.relative_to(folder).as_posix(),
                target=relative.as_posix(),
                sha256=sha256_of(path.read_bytes()),
                executable=bool(status.st_mode & stat.S_IXUSR),
            )
        )
    if not files:
        raise ValueError(f"the folder {name!r} holds no files")
    return tuple(files)


def _is_inside(folder: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
