"""Patches: what an agent changed in its workspace, and trying such a change out."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.datasets.checkout import SealedCheckout
from runner.datasets.git import must_git, run_git, telling_lines
from runner.datasets.removal import remove
from runner.errors import ChangeRefused

MAX_FILE_BYTES = 100_000_000
MAX_PATCH_BYTES = 50_000_000
MAX_REASON = 500

DIFF = (
    "diff-index",
    "--cached",
    "--patch",
    "--binary",
    "--full-index",
    "--find-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


@dataclass(frozen=True)
class ApplyResult:
    """Whether a patch applied, and if not, why."""

    ok: bool
    reason: str = ""


def make_patch(checkout: SealedCheckout) -> bytes:
    """The difference between the pinned tree and the workspace, in git's format; empty where there is none.

    The agent is not trusted: its ``.git`` is never read, every file is read anew whatever its times say, and
    nothing that it configured runs. Nested repositories become plain folders; pipes, sockets and devices are
    dropped; ignored files stay out.

    Raises:
        ChangeRefused: the change is too large to be a patch, or the workspace itself is gone.
        RepositoryError: git fails at it.
    """
    if checkout.workspace.is_symlink() or not checkout.workspace.is_dir():
        raise ChangeRefused(
            "the workspace is gone or was replaced by something else",
            where=str(checkout.workspace),
            remedy="there is no change to collect; run the trial again",
        )
    try:
        tidy(checkout.workspace)
    except OSError as error:
        raise ChangeRefused(
            f"the workspace cannot be read: {error.strerror}",
            where=str(error.filename)[:300],
            remedy="there is no change to collect; run the trial again",
        ) from None
    with tempfile.TemporaryDirectory() as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
        _git(checkout, index, "read-tree", checkout.base_commit)
        _git(checkout, index, "add", "--all", "--", ".")
        patch = _git(checkout, index, *DIFF, checkout.base_commit, "--")
    if len(patch) > MAX_PATCH_BYTES:
        raise _too_large(len(patch), str(checkout.workspace))
    return patch


def apply_patch(checkout: SealedCheckout, patch: bytes) -> ApplyResult:
    """Apply ``patch`` to a fresh checkout, wholly or not at all; an empty patch changes nothing."""
    if not patch.strip():
        return ApplyResult(ok=True)
    for arguments in (("--check",), ()):
        done = run_git(
            "apply",
            "--binary",
            "--whitespace=nowarn",
            *arguments,
            "-",
            git_dir=checkout.git_dir,
            work_tree=checkout.workspace,
            cwd=checkout.workspace,
            stdin=patch,
        )
        if done.exit_code != 0:
            return ApplyResult(ok=False, reason="; ".join(telling_lines(done.stderr))[:MAX_REASON])
    return ApplyResult(ok=True)


def check_patch(checkout: SealedCheckout, patch: bytes) -> ApplyResult:
    """Whether ``patch`` applies to the pinned tree, whatever is in the workspace now; changes nothing."""
    if not patch.strip():
        return ApplyResult(ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
        _git(checkout, index, "read-tree", checkout.base_commit)
        done = run_git(
            "apply",
            "--binary",
            "--whitespace=nowarn",
            "--cached",
            "--check",
            "-",
            git_dir=checkout.git_dir,
            work_tree=checkout.workspace,
            cwd=checkout.git_dir,
            stdin=patch,
            environment=index,
        )
    reason = "" if done.exit_code == 0 else "; ".join(telling_lines(done.stderr))[:MAX_REASON]
    return ApplyResult(ok=done.exit_code == 0, reason=reason)


def tidy(workspace: Path) -> None:
    """Remove from ``workspace`` what cannot be in a patch and would stop git from making one."""
    waiting = [workspace]
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in list(entries):
                path = Path(entry.path)
                mode = entry.stat(follow_symlinks=False).st_mode
                if entry.name.lower() == ".git":
                    if folder != workspace or entry.name != ".git":
                        remove(path)
                elif stat.S_ISDIR(mode):
                    _allow(path, mode, stat.S_IRWXU)
                    waiting.append(path)
                elif stat.S_ISREG(mode):
                    _allow(path, mode, stat.S_IRUSR)
                    size = entry.stat(follow_symlinks=False).st_size
                    if size > MAX_FILE_BYTES:
                        raise _too_large(size, str(path))
                elif not stat.S_ISLNK(mode):
                    remove(path)


def _allow(path: Path, mode: int, wanted: int) -> None:
    if mode & wanted != wanted:
        path.chmod(stat.S_IMODE(mode) | wanted)


def _git(checkout: SealedCheckout, environment: Mapping[str, str], *arguments: str) -> bytes:
    return must_git(
        *arguments,
        git_dir=checkout.git_dir,
        work_tree=checkout.workspace,
        cwd=checkout.workspace,
        environment=environment,
    )


def _too_large(size: int, where: str) -> ChangeRefused:
    return ChangeRefused(
        f"the change is too large to be a patch: {size:,} bytes",
        where=where,
        remedy="let .gitignore name what is generated",
    )
