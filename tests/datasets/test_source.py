"""A repository is found under every kind of address, and a failure says why and what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runner.datasets.bundle import build_bundle
from runner.datasets.git import must_git, run_git
from runner.datasets.location import RepositoryKind
from runner.datasets.refusal import unreachable
from runner.datasets.source import Source, commit_for, locked, open_source
from runner.errors import RepositoryError
from tests.datasets.samples import Repository, new_repository, sealed


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = new_repository(tmp_path / "source")
    made.commit({"a.txt": b"1"})
    made.git("tag", "release-1.0")
    made.commit({"a.txt": b"2"})
    made.git("tag", "--annotate", "release-2.0", "--message", "two")
    made.git("branch", "topic/x")
    return made


def resolved(source: Source, ref: str) -> str:
    with locked(source):
        return commit_for(source, ref)


def opened(repo: str, folder: Path) -> Source:
    return open_source(repo, beside=folder, cache=folder / "cache")


@pytest.mark.parametrize("ref", ["release-1.0", "release-2.0", "topic/x", "main", "HEAD"])
def test_tags_branches_and_head_of_a_local_path(tmp_path: Path, repository: Repository, ref: str) -> None:
    expected = repository.git("rev-parse", f"{ref}^{{commit}}").strip()
    assert resolved(opened("./source", tmp_path), ref) == expected
    assert resolved(opened(str(repository.path), tmp_path), ref) == expected


def test_a_commit_that_only_the_history_holds(tmp_path: Path, repository: Repository) -> None:
    commit = repository.git("rev-parse", "HEAD~1").strip()
    repository.git("tag", "--delete", "release-1.0")
    assert resolved(opened("./source", tmp_path), commit) == commit


def test_a_bundle_by_tag_branch_and_commit(tmp_path: Path, repository: Repository) -> None:
    repository.git("bundle", "create", "--quiet", str(tmp_path / "b.bundle"), "--all")
    for ref in ("release-1.0", "release-2.0", "main"):
        source = open_source("b.bundle", beside=tmp_path, cache=tmp_path / f"cache-{ref}")
        assert resolved(source, ref) == repository.git("rev-parse", f"{ref}^{{commit}}").strip()
    commit = repository.git("rev-parse", "HEAD~1").strip()
    assert resolved(opened("b.bundle", tmp_path), commit) == commit


def test_a_branch_is_asked_anew_and_a_changed_bundle_is_noticed(
    tmp_path: Path, repository: Repository
) -> None:
    bundle = tmp_path / "b.bundle"
    bundle.touch()
    sources = (opened("./source", tmp_path), opened("b.bundle", tmp_path))
    for content in (b"3", b"4"):
        newest = repository.commit({"a.txt": content})
        bundle.unlink(missing_ok=True)
        repository.git("bundle", "create", "--quiet", str(bundle), "--all")
        assert [resolved(source, "main") for source in sources] == [newest, newest]


@pytest.mark.parametrize("left", ["shallow.lock", "refs/fetched/one/{}.lock"])
def test_a_git_that_was_killed_while_it_fetched_keeps_no_later_one_out(
    tmp_path: Path, repository: Repository, left: str
) -> None:
    source, newest = opened("./source", tmp_path), repository.git("rev-parse", "main").strip()
    resolved(source, "release-1.0")
    lock = source.mirror / left.format(newest)
    lock.touch()
    assert resolved(source, "main") == newest
    assert not lock.exists()


def test_a_tag_of_a_remote_needs_the_network_once(tmp_path: Path, repository: Repository) -> None:
    source = Source("ssh://host/x", str(repository.path), RepositoryKind.SSH, tmp_path / "cache" / "mirror")
    commit = resolved(source, "release-2.0")
    branch = resolved(source, "main")
    shutil.rmtree(repository.path)
    assert resolved(source, "release-2.0") == commit
    assert resolved(source, commit) == commit
    with pytest.raises(RepositoryError):
        resolved(source, "main")
    assert branch == commit


def test_an_unknown_ref_is_answered_with_near_names(tmp_path: Path, repository: Repository) -> None:
    with pytest.raises(RepositoryError) as caught:
        resolved(opened("./source", tmp_path), "release-1.1")
    assert "no tag or branch 'release-1.1'; did you mean 'release-1.0'?" in caught.value.what
    assert "main, release-1.0, release-2.0, topic/x" in caught.value.remedy


def test_an_unknown_commit_is_named(tmp_path: Path, repository: Repository) -> None:
    with pytest.raises(RepositoryError, match=r"the commit or ref is not there|has no commit"):
        resolved(opened("./source", tmp_path), "f" * 40)


def test_a_tag_on_a_file_is_no_commit(tmp_path: Path, repository: Repository) -> None:
    repository.git("tag", "blob", "HEAD:a.txt")
    with pytest.raises(RepositoryError):
        resolved(opened("./source", tmp_path), "blob")


@pytest.mark.parametrize("repo", ["./nowhere", "gone.bundle", "/nonexistent/path"])
def test_a_path_that_is_not_there_is_named(tmp_path: Path, repo: str) -> None:
    with pytest.raises(RepositoryError, match="no repository at this path"):
        opened(repo, tmp_path)


def test_a_folder_that_is_no_repository_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(RepositoryError, match="there is no repository there"):
        resolved(opened("./plain", tmp_path), "main")


def test_a_broken_bundle_is_named(tmp_path: Path) -> None:
    (tmp_path / "b.bundle").write_bytes(b"# v2 git bundle\n" + b"1" * 40 + b" refs/heads/main\n\nnothing")
    with pytest.raises(RepositoryError, match="cannot be had"):
        resolved(opened("b.bundle", tmp_path), "main")


@pytest.mark.parametrize(
    ("repo", "ref"),
    [
        ("--upload-pack=touch x", "main"),
        ("ext::sh", "main"),
        ("./source", "--output=x"),
        ("file:///etc", "main"),
    ],
)
def test_nothing_that_git_could_take_for_an_option_reaches_it(
    tmp_path: Path, repository: Repository, repo: str, ref: str
) -> None:
    with pytest.raises(RepositoryError):
        resolved(opened(repo, tmp_path), ref)


def test_git_itself_refuses_transports_that_run_commands(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    done = run_git("ls-remote", f"ext::touch {trap}", cwd=tmp_path)
    assert done.exit_code != 0
    assert not trap.exists()


def test_an_unreachable_server_says_so_without_asking_for_a_password(tmp_path: Path) -> None:
    source = opened("https://127.0.0.1:9/team/project", tmp_path)
    with pytest.raises(RepositoryError, match="the server did not answer"):
        resolved(source, "main")


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("fatal: unable to access 'https://x/': Could not resolve host: x", "the host is unknown"),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", "wants credentials"),
        (
            "git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            "key was refused",
        ),
        ("Host key verification failed.\nfatal: Could not read", "not among the known ones"),
        ("remote: Repository not found.\nfatal: repository 'https://x/' not found", "no repository there"),
        ("fatal: detected dubious ownership in repository at '/x'", "belongs to another user"),
        ("fatal: unable to access: SSL certificate problem: self-signed", "certificate"),
        ("fatal: unable to access: Failed to connect to x port 443: Connection timed out", "did not answer"),
        ("fatal: something new", "git failed"),
        ("", "git failed"),
    ],
)
def test_what_git_says_is_turned_into_a_cause(said: str, cause: str) -> None:
    error = unreachable("https://x/", said)
    assert cause in error.what
    assert error.remedy


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "slow")
    with pytest.raises(RepositoryError, match="did not finish within"):
        run_git("-c", "alias.wait=!sleep 30", "wait", cwd=repository.path, timeout_seconds=0.3)


def test_a_failing_local_command_names_itself(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="git rev-parse failed: fatal: not a git repository"):
        must_git(
            "rev-parse", "HEAD", cwd=tmp_path, environment={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
        )


def test_a_series_with_a_broken_list_of_refs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / "refs.txt").write_text("refs/heads/main 1\n")
    with pytest.raises(RepositoryError, match="line 1 is no ref of this series"):
        build_bundle(tmp_path / "series", tmp_path / "out.bundle")


def test_two_repositories_of_one_name_do_not_share_a_copy(tmp_path: Path) -> None:
    for folder, content in (("a", b"a"), ("b", b"b")):
        made = new_repository(tmp_path / folder / "same")
        made.commit({"x": content})
        checkout = sealed(made, tmp_path / f"trial-{folder}")
        assert (checkout.workspace / "x").read_bytes() == content
