"""What the name, address or path of a remote means."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.publish.child import run
from generators.publish.remote import FALLBACK_EMAIL, FALLBACK_NAME, redact, resolve
from runner.errors import PublishError
from tests.generators.publish.project import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=work", ".")
    return root


def test_a_name_is_looked_up_and_its_push_address_wins(repository: Path) -> None:
    git(repository, "remote", "add", "team", "https://example.org/read.git")
    git(repository, "remote", "set-url", "--push", "team", "https://example.org/write.git")
    assert resolve("team", root=repository).address == "https://example.org/write.git"


def test_paths_are_taken_from_the_project(repository: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "init", "--quiet", "--bare", str(bare))
    git(repository, "remote", "add", "near", "../bare.git")
    for remote in ("near", "../bare.git", str(bare)):
        assert resolve(remote, root=repository).address == str(bare)


def test_an_unknown_name_is_refused_with_the_known_ones(repository: Path) -> None:
    git(repository, "remote", "add", "team", "https://example.org/read.git")
    with pytest.raises(PublishError, match="no remote 'origin'") as failure:
        resolve("origin", root=repository)
    assert "team" in failure.value.where
    assert "git remote add origin" in failure.value.remedy


def test_a_name_outside_a_repository_is_refused_as_such(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="not a git repository"):
        resolve("origin", root=tmp_path)
    assert resolve("https://example.org/a.git", root=tmp_path).checked_out is None


@pytest.mark.parametrize("remote", ["", "  ", "--upload-pack=touch /tmp/x", "-c"])
def test_what_git_would_read_as_a_flag_is_no_remote(repository: Path, remote: str) -> None:
    with pytest.raises(PublishError, match="no remote"):
        resolve(remote, root=repository)


def test_the_checked_out_branch_is_known_before_its_first_commit(repository: Path) -> None:
    assert resolve("/tmp", root=repository).checked_out == "work"


def test_passwords_are_never_shown() -> None:
    text = "fatal: https://ada:s3cret@example.org/a.git and ssh://git@example.org/b.git"
    assert redact(text) == "fatal: https://example.org/a.git and ssh://example.org/b.git"


def test_a_repository_s_own_way_to_its_remotes_is_taken_along(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "http.https://example.org/.extraheader", "AUTHORIZATION: basic abc")
    git(repository, "config", "core.sshCommand", "ssh -i key")
    git(repository, "config", "core.hooksPath", "hooks")
    inherited = {
        "PATH": "/usr/bin:/bin",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.proxy",
        "GIT_CONFIG_VALUE_0": "http://proxy.example:1",
    }
    remote = resolve("https://example.org/a.git", root=repository, inherited=inherited)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    listed = run(["git", "config", "--list"], folder=elsewhere, environment=remote.environment).stdout.lower()
    assert "http.https://example.org/.extraheader=authorization: basic abc" in listed
    assert "core.sshcommand=ssh -i key" in listed
    assert "http.proxy=http://proxy.example:1" in listed
    assert "hookspath" not in listed


@pytest.mark.parametrize("how", ["none", "settings", "environment"])
def test_the_identity_is_the_user_s_or_a_plain_one(
    repository: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = (FALLBACK_NAME, FALLBACK_EMAIL)
    if how == "settings":
        git(repository, "config", "user.name", "Grace")
        git(repository, "config", "user.email", "grace@example.org")
        expected = ("Grace", "grace@example.org")
    if how == "environment":
        monkeypatch.setenv("GIT_AUTHOR_NAME", "Lin")
        monkeypatch.setenv("GIT_COMMITTER_EMAIL", "lin@example.org")
        expected = ("Lin", "lin@example.org")
    given = resolve("/tmp", root=repository).environment
    assert (given["GIT_COMMITTER_NAME"], given["GIT_COMMITTER_EMAIL"]) == expected
