"""Reach: whether repositories and refs can be had, asked without fetching, and how large they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from runner.datasets.bundle import object_of
from runner.datasets.git import run_git
from runner.datasets.location import COMMIT_ID, RepositoryKind
from runner.datasets.refusal import unknown_ref
from runner.datasets.source import Source, commit_in_mirror, listed_refs, open_source, remembered_tags
from runner.errors import RepositoryError

BUNDLE_GROWTH = 6
"""A working tree is a few times as large as the bundle it comes from."""


def unreachable_refs(
    repo: str, refs: Iterable[str], *, beside: Path, cache: Path, seconds: float
) -> list[RepositoryError]:
    """Why refs of ``repo`` cannot be had, one error for each; empty where all can.

    The other side is asked once, and only for refs that the cached copy does not hold. Whether it has a
    commit that is named by its id can only be told by fetching it, so that its answering must do.

    Args:
        beside: folder of the dataset file.
        cache: folder for copies of repositories; nothing is written there.
        seconds: how long the other side may take.
    """
    try:
        source = open_source(repo, beside=beside, cache=cache)
        open_refs = [ref for ref in refs if not _is_here(source, ref)]
        if not open_refs:
            return []
        listed = listed_refs(source, seconds=seconds)
    except RepositoryError as error:
        return [error]
    return [
        unknown_ref(repo, ref, listed)
        for ref in open_refs
        if not COMMIT_ID.fullmatch(ref) and object_of(listed, ref) is None
    ]


def checkout_bytes(repo: str, ref: str, *, beside: Path, cache: Path) -> int | None:
    """Size of the files of ``ref``, estimated from a bundle's size; None while it was not fetched."""
    try:
        source = open_source(repo, beside=beside, cache=cache)
    except RepositoryError:
        return None
    wanted = remembered_tags(source).get(ref, ref)
    commit = commit_in_mirror(source, wanted) if (source.mirror / "HEAD").exists() else None
    if commit is not None:
        done = run_git("ls-tree", "-r", "-l", "-z", commit, git_dir=source.mirror)
        sizes = (entry.split(b"\t")[0].split()[-1] for entry in done.stdout.split(b"\0") if entry)
        return sum(int(size) for size in sizes if size.isdigit())
    if source.kind is RepositoryKind.BUNDLE:
        return Path(source.address).stat().st_size * BUNDLE_GROWTH
    return None


def _is_here(source: Source, ref: str) -> bool:
    """Whether a checkout of ``ref`` needs nothing of the other side."""
    if not (source.mirror / "HEAD").exists():
        return False
    known = remembered_tags(source).get(ref) if source.is_remote else None
    wanted = known or (ref if COMMIT_ID.fullmatch(ref) else None)
    return wanted is not None and commit_in_mirror(source, wanted) is not None
