"""A sealed checkout holds the pinned tree, and nothing that leads to what came later."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from runner.datasets import SealedCheckout, make_patch, renew, seal
from runner.datasets.git import must_git
from runner.errors import RepositoryError
from tests.datasets.samples import Repository, new_repository, plain_git, sealed

SECRET = b"the-answer-is-forty-two"
SHIPPED = Path(__file__).parents[2] / "datasets" / "repositories" / "clockbook.bundle"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Three commits; v1 is the second, an older branch and a later tag lie around it."""
    made = new_repository(tmp_path / "source")
    made.commit({"old-secret.txt": SECRET + b"-before"}, "before")
    made.git("branch", "old")
    made.commit(
        {
            "old-secret.txt": None,
            "a.txt": b"one\n",
            "folder/run.sh": b"#!/bin/sh\n",
            "crlf.txt": b"x\r\ny\r\n",
        },
        "v1",
    )
    (made.path / "folder" / "run.sh").chmod(0o755)
    (made.path / "link").symlink_to("folder/run.sh")
    made.commit({}, "modes")
    made.git("tag", "--annotate", "v1", "--message", SECRET.decode())
    made.commit({"a.txt": SECRET, "later.txt": SECRET}, f"later {SECRET.decode()}")
    made.git("tag", "v2")
    return made


def all_objects(git_dir: Path) -> bytes:
    """Every object in a repository, reachable or not."""
    return must_git("cat-file", "--batch-all-objects", "--unordered", "--batch", git_dir=git_dir)


def assert_sealed(checkout: SealedCheckout) -> None:
    for git_dir in (checkout.workspace / ".git", checkout.git_dir):
        objects = all_objects(git_dir)
        assert checkout.tree.encode() in objects
        assert SECRET not in objects
        refs = must_git("for-each-ref", "--format=%(refname) %(objectname)", git_dir=git_dir).decode().split()
        assert refs == ["refs/heads/main", checkout.base_commit]
        assert must_git("rev-list", "--all", "--count", git_dir=git_dir) == b"1\n"
        assert must_git("log", "-1", "--format=%T %P|", git_dir=git_dir).decode() == f"{checkout.tree} |\n"
        assert must_git("remote", git_dir=git_dir) == b""
        assert must_git("reflog", git_dir=git_dir) == b""
        left = {path.name for path in git_dir.rglob("*")}
        assert not left & {"FETCH_HEAD", "ORIG_HEAD", "logs", "packed-refs", "alternates", "hooks", "shallow"}
        for path in git_dir.rglob("*"):
            assert not path.is_file() or SECRET not in path.read_bytes()


@pytest.mark.parametrize("ref", ["v1", "commit"])
def test_no_object_of_another_commit_is_in_the_workspace(
    tmp_path: Path, repository: Repository, ref: str
) -> None:
    commit = repository.git("rev-parse", "v1^{commit}").strip()
    checkout = sealed(repository, tmp_path / "trial", commit if ref == "commit" else ref)
    assert checkout.source_commit == commit
    assert checkout.tree == repository.git("rev-parse", "v1^{tree}").strip()
    assert_sealed(checkout)


def test_the_files_are_those_of_the_tree_byte_for_byte(tmp_path: Path, repository: Repository) -> None:
    workspace = sealed(repository, tmp_path / "trial", "v1").workspace
    found = sorted(
        path.relative_to(workspace).as_posix() for path in workspace.rglob("*") if ".git" not in path.parts
    )
    assert found == ["a.txt", "crlf.txt", "folder", "folder/run.sh", "link"]
    assert (workspace / "crlf.txt").read_bytes() == b"x\r\ny\r\n"
    assert os.access(workspace / "folder" / "run.sh", os.X_OK)
    assert not os.access(workspace / "a.txt", os.X_OK)
    assert (workspace / "link").readlink() == Path("folder/run.sh")


def test_an_agent_can_use_git_in_its_workspace(tmp_path: Path, repository: Repository) -> None:
    workspace = sealed(repository, tmp_path / "trial", "v1").workspace
    assert plain_git(workspace, "status", "--porcelain") == ""
    (workspace / "a.txt").write_text("two\n")
    assert plain_git(workspace, "diff", "--name-only") == "a.txt\n"
    plain_git(workspace, "commit", "--all", "--message", "mine")
    assert plain_git(workspace, "log", "--format=%s").splitlines()[0] == "mine"


def test_the_base_commit_is_the_same_in_every_checkout(tmp_path: Path, repository: Repository) -> None:
    first = sealed(repository, tmp_path / "a", "v1")
    other = seal(
        str(repository.path),
        "v1",
        beside=tmp_path,
        cache=tmp_path / "another-cache",
        workspace=tmp_path / "b" / "workspace",
        git_dir=tmp_path / "b" / "git",
    )
    assert (first.base_commit, first.tree) == (other.base_commit, other.tree)


def test_attributes_of_the_repository_do_not_change_bytes(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "source")
    repository.commit({"a.txt": b"a\nb\n$Id$\n", "b.txt": b"plain\n"})
    repository.commit({".gitattributes": b"* text eol=crlf ident filter=nope\n"})
    workspace = sealed(repository, tmp_path / "trial").workspace
    assert (workspace / "a.txt").read_bytes() == b"a\nb\n$Id$\n"
    assert (workspace / "b.txt").read_bytes() == b"plain\n"


def test_settings_of_the_user_and_hooks_of_the_source_do_not_run(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trapped"
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*\n")
    (home / ".config" / "git" / "attributes").write_text("* filter=trap\n")
    (home / ".gitconfig").write_text(
        f'[filter "trap"]\n smudge = touch {trap}\n clean = touch {trap}\n[core]\n fsmonitor = touch {trap}\n'
    )
    hook = repository.path / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    sealed(repository, tmp_path / "trial", "v1")
    assert not trap.exists()


def test_a_folder_in_use_is_not_overwritten(tmp_path: Path, repository: Repository) -> None:
    workspace = tmp_path / "trial" / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "mine.txt").write_text("precious")
    with pytest.raises(RepositoryError, match="needs an empty folder"):
        sealed(repository, tmp_path / "trial", "v1")
    assert (workspace / "mine.txt").read_text() == "precious"


def test_a_link_in_place_of_the_workspace_is_refused(tmp_path: Path, repository: Repository) -> None:
    (tmp_path / "trial").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "trial" / "workspace").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RepositoryError, match="needs an empty folder"):
        sealed(repository, tmp_path / "trial", "v1")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_trusted_repository_cannot_lie_in_the_workspace(tmp_path: Path, repository: Repository) -> None:
    with pytest.raises(RepositoryError, match="outside the workspace"):
        seal(
            str(repository.path),
            "v1",
            beside=tmp_path,
            cache=tmp_path / "cache",
            workspace=tmp_path / "w",
            git_dir=tmp_path / "w" / "inside",
        )


def test_many_threads_can_seal_the_same_repository_at_once(tmp_path: Path, repository: Repository) -> None:
    made: list[SealedCheckout] = []
    threads = [
        threading.Thread(target=lambda n=n: made.append(sealed(repository, tmp_path / f"trial-{n}", "v1")))
        for n in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6
    assert {checkout.base_commit for checkout in made} == {made[0].base_commit}
    for checkout in made:
        assert (checkout.workspace / "a.txt").read_bytes() == b"one\n"


def test_an_interrupted_preparation_is_made_again(tmp_path: Path, repository: Repository) -> None:
    checkout = sealed(repository, tmp_path / "a", "v1")
    template = next((tmp_path / "cache").glob(f"*/sealed/{checkout.source_commit}"))
    (template / "sealed.txt").unlink()
    assert sealed(repository, tmp_path / "b", "v1").base_commit == checkout.base_commit


def test_the_shipped_repository_is_sealed_before_its_solutions(tmp_path: Path) -> None:
    checkout = seal(
        SHIPPED.name,
        "v0.3.0",
        beside=SHIPPED.parent,
        cache=tmp_path / "cache",
        workspace=tmp_path / "workspace",
        git_dir=tmp_path / "git",
    )
    objects = all_objects(checkout.workspace / ".git")
    assert b"DEFAULT_STEP_MINUTES = 10" in objects
    assert b"DEFAULT_STEP_MINUTES = 15" not in objects
    assert b"MINUTES_OF_A_DAY" not in objects
    assert b"0.4.0" not in objects


def test_a_renewed_workspace_is_as_it_was_sealed_whatever_was_done_to_it(
    repository: Repository, tmp_path: Path
) -> None:
    checkout = sealed(repository, tmp_path, "v1")
    workspace = checkout.workspace
    before = {path.relative_to(workspace): path.lstat().st_mode for path in workspace.rglob("*")}
    (workspace / "a.txt").write_bytes(SECRET)
    (workspace / "link").unlink()
    (workspace / "link").mkdir()
    (workspace / "ignored" / "deep").mkdir(parents=True)
    (workspace / "ignored").chmod(0)
    make_patch(checkout)
    for path in (workspace / ".git").iterdir():
        if path.is_file():
            path.unlink()
    (workspace / ".git" / "index.lock").touch()
    workspace.chmod(0o500)
    # Twice: a renewal that is cut off is made again.
    for _ in range(2):
        renew(checkout)
        assert {path.relative_to(workspace): path.lstat().st_mode for path in workspace.rglob("*")} == before
        assert SECRET not in all_objects(workspace / ".git")
        assert make_patch(checkout) == b""
        assert plain_git(workspace, "status", "--porcelain") == ""
