"""SealedCheckout: a workspace that holds the pinned tree of a repository and nothing of its history."""

from __future__ import annotations

import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from runner.datasets.dataset import Task
from runner.datasets.git import must_git
from runner.datasets.removal import remove
from runner.datasets.source import Source, commit_for, locked, open_source
from runner.errors import RepositoryError

MESSAGE = "The state of the project at the start of the task.\n"
ATTRIBUTES = "* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"
"""Bytes are bytes: beats every attribute file of the repository in checkouts and patches."""
CONFIGURATION = """\
[core]
\tbare = false
\tlogAllRefUpdates = false
[user]
\tname = agent
\temail = agent@harnessmark.invalid
"""
"""Added to a new repository's own; with a name in it, an agent can commit."""
WORKSPACE, TRUSTED = "workspace", "trusted.git"
"""Folders of a task's checkout: the agent's, and the repository that it cannot reach."""
EXCLUDES = "__pycache__/\n*.py[cod]\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\n"
"""What running code leaves behind is no part of a patch, unless the repository tracks it."""


@dataclass(frozen=True)
class SealedCheckout:
    """A workspace for the agent, with a second repository that the agent cannot reach.

    The workspace's own ``.git`` is the agent's to use and break; everything we read of the workspace goes
    through ``git_dir``.
    """

    workspace: Path
    git_dir: Path
    base_commit: str
    """Commit without parents, made of the pinned tree; the same for the same tree on every machine."""
    tree: str
    source_commit: str
    """Commit of the source repository that the ref stands for."""


def seal(repo: str, ref: str, *, beside: Path, cache: Path, workspace: Path, git_dir: Path) -> SealedCheckout:
    """Check ``ref`` of ``repo`` out into ``workspace``: no history, no remotes, no other refs or objects.

    Args:
        repo: https or ssh address, a path, or a bundle; paths are relative to ``beside``.
        ref: tag, branch or full commit id.
        beside: folder of the dataset file.
        cache: folder for copies of repositories, shared by all runs on this machine.
        workspace: folder to fill; it must be empty or not exist.
        git_dir: trusted repository to make, outside the workspace; it must not exist.

    Raises:
        RepositoryError: the repository or the ref cannot be had, or a target is in use.
    """
    _require_free(workspace, git_dir)
    source = open_source(repo, beside=beside, cache=cache)
    with locked(source):
        commit = commit_for(source, ref)
        template, base, tree = _template(source, commit)
        workspace.mkdir(parents=True, exist_ok=True)
        shutil.copytree(template, workspace / ".git")
        shutil.copytree(template, git_dir)
    info = git_dir / "info"
    info.mkdir()
    (info / "attributes").write_text(ATTRIBUTES, encoding="utf-8")
    (info / "exclude").write_text(EXCLUDES, encoding="utf-8")
    checkout = SealedCheckout(workspace, git_dir, base, tree, commit)
    _fill(checkout)
    return checkout


def seal_task(task: Task, folder: Path, *, dataset_path: Path, cache: Path) -> SealedCheckout:
    """Check the repository of ``task`` out below ``folder``, under the names that every trial uses.

    Args:
        folder: holds neither of the two yet.
        dataset_path: file of the dataset.
        cache: folder for copies of repositories, shared by all runs on this machine.

    Raises:
        RepositoryError: the repository or the ref cannot be had.
    """
    return seal(
        task.repo,
        task.ref,
        beside=dataset_path.parent,
        cache=cache,
        workspace=folder / WORKSPACE,
        git_dir=folder / TRUSTED,
    )


def renew(checkout: SealedCheckout) -> None:
    """Make the workspace what it was when it was sealed, whatever an agent has done to it.

    Raises:
        RepositoryError: git fails at it.
    """
    workspace, git_dir = checkout.workspace, checkout.git_dir
    workspace.chmod(stat.S_IMODE(workspace.stat().st_mode) | stat.S_IRWXU)
    for path in list(workspace.iterdir()):
        remove(path)
    (git_dir / "index").unlink(missing_ok=True)
    # Patches that were made of the workspace have left loose objects.
    shutil.copytree(git_dir, workspace / ".git", ignore=shutil.ignore_patterns("[0-9a-f][0-9a-f]"))
    # What is said there is for our reading of the workspace.
    remove(workspace / ".git" / "info")
    _fill(checkout)


def bring(repo: str, ref: str, *, beside: Path, cache: Path) -> str:
    """Bring the commit that ``ref`` stands for into ``cache``, so that checkouts need no network; its id.

    Raises:
        RepositoryError: as :func:`seal`.
    """
    source = open_source(repo, beside=beside, cache=cache)
    with locked(source):
        return commit_for(source, ref)


def _fill(checkout: SealedCheckout) -> None:
    """Write the sealed tree into a workspace that holds nothing but ``.git``; both repositories have no index."""
    workspace, git_dir = checkout.workspace, checkout.git_dir
    base = checkout.base_commit
    must_git("read-tree", "-u", "--reset", base, git_dir=git_dir, work_tree=workspace, cwd=workspace)
    shutil.copy2(git_dir / "index", workspace / ".git" / "index")


def _require_free(workspace: Path, git_dir: Path) -> None:
    taken = workspace.is_symlink() or workspace.is_file()
    taken = taken or (workspace.is_dir() and any(workspace.iterdir()))
    if taken or git_dir.exists() or git_dir.is_symlink():
        raise RepositoryError(
            "a checkout needs an empty folder",
            where=str(workspace if taken else git_dir),
            remedy="remove what is there, or name another folder",
        )
    if git_dir.resolve().is_relative_to(workspace.resolve()):
        raise RepositoryError(
            "the trusted repository must lie outside the workspace",
            where=str(git_dir),
            remedy="name another folder",
        )


def _template(source: Source, commit: str) -> tuple[Path, str, str]:
    """A repository with the sealed commit alone, made once per commit and copied for each checkout."""
    folder = source.mirror / "sealed" / commit
    facts = folder / "sealed.txt"
    if not facts.exists():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=source.mirror) as scratch:
            made = Path(scratch) / "sealed"
            made.mkdir()
            base, tree = _make_template(source, commit, made / "git")
            (made / "sealed.txt").write_text(f"{base} {tree}\n", encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
    base, tree = facts.read_text(encoding="utf-8").split()
    return folder / "git", base, tree


def _make_template(source: Source, commit: str, git: Path) -> tuple[str, str]:
    tree = must_git("rev-parse", f"{commit}^{{tree}}", git_dir=source.mirror).decode().strip()
    base = must_git("commit-tree", tree, stdin=MESSAGE.encode(), git_dir=source.mirror).decode().strip()
    object_format = "sha256" if len(commit) == 64 else "sha1"
    must_git("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", str(git))
    with (git / "config").open("a", encoding="utf-8") as stream:
        stream.write(CONFIGURATION)
    must_git(
        "pack-objects",
        "--revs",
        "--quiet",
        str(git / "objects" / "pack" / "pack"),
        stdin=f"{base}\n".encode(),
        git_dir=source.mirror,
    )
    must_git("update-ref", "refs/heads/main", base, git_dir=git)
    return base, tree
