"""Checkpoint: what was there when a top-up began, so that one that is cut off can be made again from it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from runner.datasets import SealedCheckout, apply_patch, remove, renew
from runner.engine.desk import Desk
from runner.errors import RepositoryError

PATCH = "patch.diff"
BEFORE = "before"


def keep_checkpoint(scratch: Path, artifacts: Mapping[str, bytes]) -> None:
    """Keep ``artifacts`` in the folder of an invocation that begins; the patch stands for the workspace."""
    folder = scratch / BEFORE
    folder.mkdir()
    for name, data in artifacts.items():
        (folder / name).write_bytes(data)


def go_back(desk: Desk, number: int, checkout: SealedCheckout) -> None:
    """Bring the workspace and the artifacts to what they were when the top-up ``number`` began.

    Nobody knows whether what a cut-off agent left is whole. May be interrupted and done again.

    Raises:
        RepositoryError: the change that was there does not apply.
    """
    before, artifacts = desk.folder / f"invocation-{number}" / BEFORE, desk.folder / "artifacts"
    if not before.is_dir():
        # It was begun by a version that kept none; what is there is better than nothing.
        return
    if artifacts.is_symlink() or not artifacts.is_dir():
        remove(artifacts)
        artifacts.mkdir()
    for name in set(desk.skill.artifacts) - {PATCH}:
        remove(artifacts / name)
        if (before / name).is_file():
            shutil.copyfile(before / name, artifacts / name)
    renew(checkout)
    patch = before / PATCH
    applied = apply_patch(checkout, patch.read_bytes() if patch.is_file() else b"")
    if not applied.ok:
        raise RepositoryError(
            f"what an agent had changed before it was interrupted does not apply any more: {applied.reason}",
            where=str(patch),
            remedy="run the trial again",
        )
