"""Publishing to a branch, against real local repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.publish.branch import Published, expected_address, push
from generators.publish.command import Target, publish_command
from generators.publish.site import BuiltSite
from runner.costs.price_choice import PriceChoice
from runner.errors import PublishError, UsageError
from tests.generators.publish.project import git
from tests.generators.publish.test_site import digests


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A remote that holds one commit on main."""
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    seed = tmp_path / "seed"
    git(tmp_path, "clone", "--quiet", str(remote), str(seed))
    (seed / "README").write_text("code\n")
    git(seed, "checkout", "--quiet", "-B", "main")
    git(seed, "add", ".")
    git(seed, "commit", "--quiet", "--message=code")
    git(seed, "push", "--quiet", "origin", "main")
    return remote


@pytest.fixture
def project(tmp_path: Path, bare: Path) -> Path:
    """A clone of the remote with staged, unstaged and untracked work in it."""
    root = tmp_path / "project"
    git(tmp_path, "clone", "--quiet", str(bare), str(root))
    (root / "README").write_text("changed\n")
    (root / "staged").write_text("staged\n")
    git(root, "add", "staged")
    (root / "untracked").write_text("untracked\n")
    return root


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The smallest site."""
    folder = tmp_path / "site"
    (folder / "cells").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>one</h1>")
    (folder / "cells" / "a.html").write_text("<h1>a</h1>")
    return folder


def files(bare: Path, branch: str = "gh-pages") -> list[str]:
    return git(bare, "ls-tree", "-r", "--name-only", branch).splitlines()


def state(root: Path) -> tuple[str, ...]:
    """All that a publish must leave as it is."""
    return (
        git(root, "status", "--porcelain=v2", "--branch"),
        git(root, "for-each-ref"),
        git(root, "ls-files", "--stage"),
        git(root, "count-objects", "--verbose"),
        git(root, "config", "--local", "--list"),
        "\n".join(sorted(path.name for path in (root / ".git").iterdir())),
    )


def test_the_whole_site_arrives_and_nothing_else_changes(
    portal: BuiltSite, project: Path, bare: Path
) -> None:
    before = state(project)
    main = git(bare, "rev-parse", "main")
    done = push(portal.folder, root=project, message="--Publish é", clock=lambda: 1_700_000_000.5)
    assert done == Published(str(bare), "gh-pages", git(bare, "rev-parse", "gh-pages"), True, done.files)
    assert state(project) == before
    assert git(bare, "rev-parse", "main") == main
    clone = project.parent / "clone"
    git(project, "clone", "--quiet", "--branch=gh-pages", str(bare), str(clone))
    assert digests(portal.folder) == {k: v for k, v in digests(clone).items() if not k.startswith(".git/")}
    assert done.files == len(digests(portal.folder))
    log = git(bare, "log", "--format=%an|%cn|%ct|%s|%P", "gh-pages")
    assert log == "Harnessmark|Harnessmark|1700000000|--Publish é|"


def test_publishing_the_same_site_again_pushes_nothing(site: Path, project: Path, bare: Path) -> None:
    first = push(site, root=project)
    again = push(site, root=project)
    assert (first.changed, again.changed) == (True, False)
    assert again.commit == first.commit == git(bare, "rev-parse", "gh-pages")
    assert first.line() == f"2 files pushed to gh-pages of {bare} as {first.commit[:12]}"
    assert "nothing was pushed" in again.line()


def test_a_changed_site_is_a_new_commit_on_the_old_one(site: Path, project: Path, bare: Path) -> None:
    first = push(site, root=project)
    (site / "index.html").write_text("<h1>two</h1>")
    (site / "cells" / "a.html").unlink()
    second = push(site, root=project, remote=f"file://{bare}")
    assert git(bare, "rev-parse", "gh-pages^") == first.commit
    assert git(bare, "rev-parse", "gh-pages") == second.commit
    assert files(bare) == [".nojekyll", "index.html"]


def test_without_history_the_branch_stays_one_commit(site: Path, project: Path, bare: Path) -> None:
    for text in ("one", "two", "three"):
        (site / "index.html").write_text(text)
        assert push(site, root=project, keep_history=False).changed
    assert git(bare, "rev-list", "--count", "gh-pages") == "1"
    assert git(bare, "show", "gh-pages:index.html") == "three"
    assert not push(site, root=project, keep_history=False).changed


def test_a_folder_of_the_branch_leaves_the_others_alone(site: Path, project: Path, bare: Path) -> None:
    push(site, root=project)
    push(site, root=project, prefix="preview/7")
    (site / "cells" / "a.html").unlink()
    push(site, root=project, prefix="preview/7")
    assert [name for name in files(bare) if name.endswith(".html")] == [
        "cells/a.html",
        "index.html",
        "preview/7/index.html",
    ]


def test_a_custom_domain_survives(site: Path, project: Path, bare: Path) -> None:
    (site / "CNAME").write_text("bench.example.org\n")
    push(site, root=project)
    (site / "CNAME").unlink()
    (site / "index.html").write_text("<h1>two</h1>")
    push(site, root=project)
    push(site, root=project, keep_history=False)
    assert git(bare, "show", "gh-pages:CNAME") == "bench.example.org"


def test_the_remote_may_be_a_path_and_the_folder_no_repository(
    site: Path, bare: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    push(site, root=plain, remote=str(bare), branch="site/main")
    assert files(bare, "site/main") == [".nojekyll", "cells/a.html", "index.html"]


def test_a_branch_with_code_on_it_is_not_replaced(site: Path, project: Path, bare: Path) -> None:
    git(bare, "branch", "release", "main")
    with pytest.raises(PublishError, match="something other than a site") as failure:
        push(site, root=project, branch="release")
    assert "README" in failure.value.where
    assert git(bare, "show", "release:README") == "code"


def test_the_branch_in_use_is_not_replaced(site: Path, project: Path) -> None:
    with pytest.raises(UsageError, match="main is the branch you are working on"):
        push(site, root=project, branch="main")


@pytest.mark.parametrize(
    "branch", ["", "-f", "a..b", "a b", "refs/../x", "x.lock", "a/.b", "HEAD@{1}", "a//b", "a:b", "+a"]
)
def test_odd_branch_names_are_refused(site: Path, project: Path, branch: str) -> None:
    with pytest.raises(UsageError, match="cannot be a branch"):
        push(site, root=project, branch=branch)


@pytest.mark.parametrize("prefix", ["/abs", "../up", "a/../b", "a b", "-x", ".git", "a/"])
def test_odd_folders_are_refused(site: Path, project: Path, prefix: str) -> None:
    with pytest.raises(UsageError, match="folder of the branch"):
        push(site, root=project, prefix=prefix)


def test_an_odd_folder_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    said: list[str] = []
    target = Target(branch="gh-pages", prefix="../up")
    with pytest.raises(UsageError, match="folder of the branch"):
        publish_command(tmp_path, said.append, target, PriceChoice())
    assert not said
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("url", [None, "https://someone.example/"])
def test_a_remote_without_a_repository_is_refused_before_anything_is_built(
    tmp_path: Path, url: str | None
) -> None:
    said: list[str] = []
    with pytest.raises(PublishError, match="not a git repository"):
        publish_command(tmp_path, said.append, Target(branch="gh-pages", url=url), PriceChoice())
    assert not said
    assert not any(tmp_path.iterdir())


def test_a_shared_branch_cannot_lose_its_history(site: Path, project: Path) -> None:
    with pytest.raises(UsageError, match="cannot be replaced as a whole"):
        push(site, root=project, prefix="preview", keep_history=False)


def test_without_a_site_there_is_nothing_to_publish(project: Path, tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="no built site") as failure:
        push(tmp_path / "nothing", root=project)
    assert "invoke publish" in failure.value.remedy


def test_a_remote_that_is_not_there_is_said_with_git_s_words(site: Path, project: Path) -> None:
    with pytest.raises(PublishError, match="cannot be read") as failure:
        push(site, root=project, remote="https://ada:s3cret@127.0.0.1:9/none.git")
    assert "s3cret" not in failure.value.message()
    assert "127.0.0.1:9" in failure.value.where


def test_a_refused_push_is_said_with_the_remote_s_words(site: Path, project: Path, bare: Path) -> None:
    hook = bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'this branch is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PublishError, match="this branch is protected") as failure:
        push(site, root=project)
    assert failure.value.where == str(bare)
    assert "may push" in failure.value.remedy


def test_hooks_and_settings_of_the_project_do_not_take_part(site: Path, project: Path, bare: Path) -> None:
    hook = project / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    git(project, "config", "commit.gpgSign", "true")
    assert push(site, root=project).changed
    assert "index.html" in files(bare)


def test_someone_else_s_publish_in_between_is_not_overwritten(
    site: Path, project: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(site, root=project)
    (site / "index.html").write_text("<h1>mine</h1>")

    def meanwhile() -> float:
        # The clock is read between the fetch and the push: just where another publisher may come in.
        other = site.parent / "other"
        other.mkdir()
        (other / "index.html").write_text("<h1>theirs</h1>")
        push(other, root=project)
        return 1_700_000_000

    with pytest.raises(PublishError, match="refused the branch"):
        push(site, root=project, clock=meanwhile)
    assert git(bare, "show", "gh-pages:index.html") == "<h1>theirs</h1>"


def test_the_address_of_a_site_on_github_follows_from_the_remote(project: Path) -> None:
    assert expected_address(root=project) is None
    git(project, "remote", "set-url", "origin", "git@github.com:ada/bench.git")
    assert expected_address(root=project) == "https://ada.github.io/bench/"
    assert expected_address(root=project, prefix="preview/7") == "https://ada.github.io/bench/preview/7/"
    with pytest.raises(PublishError, match="no remote 'nowhere'"):
        expected_address(root=project, remote="nowhere")
