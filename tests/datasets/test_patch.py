"""A patch is exactly what changed, whatever the agent did to its workspace."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.datasets import SealedCheckout, apply_patch, check_patch, make_patch, remove
from runner.datasets import patch as patch_module
from runner.errors import RepositoryError
from tests.datasets.samples import Repository, new_repository, plain_git, sealed

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org")

BASE: dict[str, bytes | None] = {
    "a.txt": b"one\ntwo\nthree\n",
    "keep/b.txt": b"b\n" * 40,
    "binary.dat": bytes(range(256)) * 4,
    ".gitignore": b"ignored/\n",
    "run.sh": b"#!/bin/sh\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = new_repository(tmp_path / "source")
    made.commit(BASE)
    return made


@pytest.fixture
def checkout(repository: Repository, tmp_path: Path) -> SealedCheckout:
    return sealed(repository, tmp_path / "trial")


def snapshot(workspace: Path) -> dict[str, tuple[str, bytes]]:
    """Kind and content of everything below ``workspace`` except its ``.git``."""
    found = {}
    for path in sorted(workspace.rglob("*")):
        name = path.relative_to(workspace).as_posix()
        if name.split("/")[0] == ".git" or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()))
        else:
            found[name] = ("program" if path.stat().st_mode & stat.S_IXUSR else "file", path.read_bytes())
    return found


def assert_round_trip(repository: Repository, checkout: SealedCheckout, folder: Path) -> bytes:
    patch = make_patch(checkout)
    fresh = sealed(repository, folder / "fresh")
    # Tried against the pinned tree, not against the workspace that holds the change already.
    assert check_patch(checkout, patch).ok
    assert check_patch(fresh, patch).ok
    assert snapshot(fresh.workspace) != snapshot(checkout.workspace) or patch == b""
    result = apply_patch(fresh, patch)
    assert result.ok, result.reason
    assert snapshot(fresh.workspace) == snapshot(checkout.workspace)
    assert make_patch(fresh) == patch
    return patch


def test_no_change_is_an_empty_patch(checkout: SealedCheckout) -> None:
    assert make_patch(checkout) == b""


def test_an_empty_patch_applies_and_changes_nothing(checkout: SealedCheckout) -> None:
    before = snapshot(checkout.workspace)
    assert apply_patch(checkout, b"").ok
    assert apply_patch(checkout, b"\n").ok
    assert snapshot(checkout.workspace) == before


def test_every_kind_of_change_comes_back_byte_for_byte(
    tmp_path: Path, repository: Repository, checkout: SealedCheckout
) -> None:
    work = checkout.workspace
    (work / "a.txt").write_bytes(b"one\r\n2\nno newline at the end")
    (work / "keep" / "b.txt").rename(work / "moved.txt")
    (work / "binary.dat").write_bytes(bytes(reversed(range(256))) * 3)
    (work / "run.sh").chmod(0o755)
    (work / "new folder").mkdir()
    (work / "new folder" / "\u00fc -x\n.txt").write_bytes(b"odd name")
    (work / os.fsdecode(b"latin-\xe9")).write_bytes(b"odd bytes")
    (work / "empty").write_bytes(b"")
    (work / "link").symlink_to("/etc/passwd")
    (work / "zero.bin").write_bytes(b"\0\1\2" * 1000)
    patch = assert_round_trip(repository, checkout, tmp_path)
    assert b"rename from keep/b.txt" in patch
    assert b"new mode 100755" in patch
    assert b"GIT binary patch" in patch
    assert b"root:" not in patch


def test_a_change_of_the_same_length_in_the_same_second_is_seen(
    tmp_path: Path, repository: Repository, checkout: SealedCheckout
) -> None:
    path = checkout.workspace / "a.txt"
    before = path.stat()
    path.write_bytes(b"one\nTWO\nthree\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    time.sleep(1.1)
    assert b"+TWO" in assert_round_trip(repository, checkout, tmp_path)


def test_what_the_agent_committed_is_part_of_the_patch(checkout: SealedCheckout) -> None:
    (checkout.workspace / "a.txt").write_bytes(b"committed\n")
    plain_git(checkout.workspace, "commit", "--quiet", "--all", "--message", "mine")
    assert b"+committed" in make_patch(checkout)


@pytest.mark.parametrize("damage", ["deleted", "file", "link", "other", "emptied"])
def test_the_agents_own_git_folder_does_not_matter(
    tmp_path: Path, checkout: SealedCheckout, damage: str
) -> None:
    git = checkout.workspace / ".git"
    shutil.rmtree(git)
    if damage == "file":
        git.write_text("gitdir: /nonexistent\n")
    elif damage == "link":
        (tmp_path / "other").mkdir()
        git.symlink_to(tmp_path / "other")
    elif damage == "other":
        plain_git(checkout.workspace, "init", "--quiet")
        plain_git(checkout.workspace, "config", "core.worktree", "/etc")
    elif damage == "emptied":
        git.mkdir()
    (checkout.workspace / "a.txt").write_bytes(b"changed\n")
    patch = make_patch(checkout)
    assert b"+changed" in patch
    assert patch.count(b"diff --git") == 1


def test_nothing_that_the_agent_configured_runs(tmp_path: Path, checkout: SealedCheckout) -> None:
    trap = tmp_path / "trapped"
    command = f"touch {trap}"
    work = checkout.workspace
    for key in (
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "core.sshCommand",
        "core.pager",
    ):
        plain_git(work, "config", key, command)
    plain_git(work, "config", "core.hooksPath", str(work / "hooks"))
    (work / "hooks").mkdir()
    for hook in ("pre-commit", "post-index-change", "post-checkout"):
        (work / "hooks" / hook).write_text(f"#!/bin/sh\n{command}\n")
        (work / "hooks" / hook).chmod(0o755)
    (work / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (work / ".git" / "info").mkdir()
    (work / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
    (work / "a.txt").write_bytes(b"changed\n")
    assert b"+changed" in make_patch(checkout)
    assert not trap.exists()


def test_attributes_that_the_agent_wrote_do_not_change_bytes(
    tmp_path: Path, repository: Repository, checkout: SealedCheckout
) -> None:
    (checkout.workspace / ".gitattributes").write_text(
        "* text eol=crlf ident -diff working-tree-encoding=UTF-16\n"
    )
    (checkout.workspace / "a.txt").write_bytes(b"one\r\n$Id: x$\nthree\n")
    patch = assert_round_trip(repository, checkout, tmp_path)
    assert b"+$Id: x$" in patch


def test_a_nested_repository_becomes_plain_files(
    tmp_path: Path, repository: Repository, checkout: SealedCheckout
) -> None:
    for name in ("empty-one", "with-commit", "deep/er"):
        nested = checkout.workspace / name
        nested.mkdir(parents=True)
        plain_git(nested, "init", "--quiet")
        (nested / "inner.txt").write_text(name)
    plain_git(checkout.workspace / "with-commit", "add", ".")
    plain_git(checkout.workspace / "with-commit", *IDENTITY, "commit", "--quiet", "--message", "x")
    (checkout.workspace / "odd").mkdir()
    (checkout.workspace / "odd" / ".GIT").mkdir()
    (checkout.workspace / "odd" / ".GIT" / "config").write_text("x")
    (checkout.workspace / "odd" / "git~1").write_text("x")
    patch = assert_round_trip(repository, checkout, tmp_path)
    assert b"Subproject" not in patch
    assert patch.count(b"inner.txt b/") == 3


def test_pipes_sockets_and_unreadable_files_do_not_stop_it(
    tmp_path: Path, repository: Repository, checkout: SealedCheckout
) -> None:
    work = checkout.workspace
    os.mkfifo(work / "pipe")
    (work / "run.sh").unlink()
    os.mkfifo(work / "run.sh")
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{short}/s")
        Path(short, "s").rename(work / "socket")
    (work / "locked").mkdir()
    (work / "locked" / "x").write_text("x")
    (work / "locked" / "x").chmod(0)
    (work / "locked").chmod(0)
    patch = assert_round_trip(repository, checkout, tmp_path)
    assert b"deleted file mode 100644\n" in patch
    assert b"+++ b/locked/x" in patch


def test_a_very_deep_folder_stops_neither_the_patch_nor_its_removal(checkout: SealedCheckout) -> None:
    path = checkout.workspace
    for _ in range(1200):
        path = path / "d"
        path.mkdir()
    (path / "x").write_text("deep\n")
    try:
        assert b"+deep" in make_patch(checkout)
    finally:
        assert remove(checkout.workspace)


def test_a_path_longer_than_the_system_allows_is_named_and_removed(checkout: SealedCheckout) -> None:
    code = "import os\nfor _ in range(50): os.mkdir('d' * 200); os.chdir('d' * 200)"
    subprocess.run([sys.executable, "-c", code], cwd=checkout.workspace, check=True)
    try:
        with pytest.raises(RepositoryError, match="the workspace cannot be read"):
            make_patch(checkout)
    finally:
        assert remove(checkout.workspace)


def test_removing_a_link_leaves_its_target(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert remove(tmp_path / "link")
    assert remove(tmp_path / "nothing")
    assert (tmp_path / "target").is_dir()


def test_links_out_of_the_workspace_are_not_followed(tmp_path: Path, checkout: SealedCheckout) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret-content")
    (outside / ".git").mkdir()
    shutil.rmtree(checkout.workspace / "keep")
    (checkout.workspace / "keep").symlink_to(outside)
    patch = make_patch(checkout)
    assert b"secret-content" not in patch
    assert (outside / ".git").is_dir()


@pytest.mark.parametrize("replacement", ["gone", "link", "file"])
def test_a_workspace_that_is_gone_is_named(
    tmp_path: Path, checkout: SealedCheckout, replacement: str
) -> None:
    shutil.rmtree(checkout.workspace)
    if replacement == "link":
        (tmp_path / "victim" / "sub" / ".git").mkdir(parents=True)
        checkout.workspace.symlink_to(tmp_path / "victim")
    elif replacement == "file":
        checkout.workspace.write_text("x")
    with pytest.raises(RepositoryError, match="gone or was replaced"):
        make_patch(checkout)
    assert replacement != "link" or (tmp_path / "victim" / "sub" / ".git").is_dir()


def test_ignored_files_and_what_running_code_leaves_stay_out(checkout: SealedCheckout) -> None:
    for name in ("ignored/x.txt", "__pycache__/a.cpython-311.pyc", "keep/b.pyc", ".pytest_cache/y"):
        path = checkout.workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert make_patch(checkout) == b""


def test_what_the_user_ignores_everywhere_is_still_part_of_a_patch(
    tmp_path: Path, checkout: SealedCheckout, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / ".config" / "git").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "git" / "ignore").write_text("*.txt\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (checkout.workspace / "new.txt").write_text("new\n")
    assert b"+new" in make_patch(checkout)


def test_a_file_too_large_for_a_patch_is_named(checkout: SealedCheckout) -> None:
    with (checkout.workspace / "huge.bin").open("wb") as stream:
        stream.truncate(patch_module.MAX_FILE_BYTES + 1)
    with pytest.raises(RepositoryError, match="too large to be a patch") as caught:
        make_patch(checkout)
    assert "huge.bin" in caught.value.where


@pytest.mark.parametrize(
    "patch",
    [
        b"this is no patch\n",
        b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-other\n+new\n",
        b"--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-x\n+y\n",
        b"diff --git a/../out.txt b/../out.txt\nnew file mode 100644\n--- /dev/null\n+++ b/../out.txt\n"
        b"@@ -0,0 +1 @@\n+x\n",
        b"diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/x\n"
        b"@@ -0,0 +1 @@\n+x\n",
        b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/tmp\n"
        b"\\ No newline at end of file\ndiff --git a/l/out.txt b/l/out.txt\nnew file mode 100644\n"
        b"--- /dev/null\n+++ b/l/out.txt\n@@ -0,0 +1 @@\n+x\n",
    ],
)
def test_a_patch_that_does_not_fit_or_leads_outside_changes_nothing(
    checkout: SealedCheckout, patch: bytes
) -> None:
    before = snapshot(checkout.workspace)
    result = check_patch(checkout, patch)
    assert not result.ok
    assert result.reason
    result = apply_patch(checkout, patch)
    assert not result.ok
    assert result.reason
    assert snapshot(checkout.workspace) == before
    assert not (checkout.workspace.parent / "out.txt").exists()
    assert not Path("/tmp/out.txt").exists()


def test_a_patch_that_fits_in_part_is_not_applied_in_part(checkout: SealedCheckout) -> None:
    good = (
        b"diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+x\n"
    )
    bad = b"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-other\n+new\n"
    assert not check_patch(checkout, good + bad).ok
    assert not apply_patch(checkout, good + bad).ok
    assert not (checkout.workspace / "n.txt").exists()


NAMES = st.text(alphabet='ab .-\u00e9\n"\\', min_size=1, max_size=4).filter(
    lambda name: name.strip(".") != ""
)


@settings(deadline=None, max_examples=8)
@given(
    files=st.dictionaries(NAMES, st.binary(max_size=40) | st.text(max_size=40).map(str.encode), max_size=5),
    changed=st.binary(max_size=60),
)
def test_any_content_under_any_name_comes_back(files: dict[str, bytes], changed: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repository = new_repository(Path(folder, "source"))
        repository.commit(BASE)
        checkout = sealed(repository, Path(folder, "trial"))
        (checkout.workspace / "a.txt").write_bytes(changed)
        for name, content in files.items():
            (checkout.workspace / name).write_bytes(content)
        assert_round_trip(repository, checkout, Path(folder))
