"""Reach: refs are asked for without fetching, and what the cached copy holds is not asked for at all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runner.datasets import bring, checkout_bytes, unreachable_refs
from runner.datasets.git import must_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    must_git("init", "--quiet", "--template=", cwd=folder)
    (folder / "a.txt").write_text("x" * 1000, encoding="utf-8")
    (folder / "b.bin").write_bytes(bytes(500))
    must_git("add", ".", cwd=folder)
    must_git("commit", "--quiet", "-m", "first", cwd=folder)
    must_git("tag", "v1", cwd=folder)
    return folder


def faults(repository: Path, *refs: str, repo: str = "./project") -> list[str]:
    beside = repository.parent
    return [
        fault.what
        for fault in unreachable_refs(repo, refs, beside=beside, cache=beside / "cache", seconds=20)
    ]


def test_tags_branches_and_commits_that_are_there_have_no_fault(repository: Path) -> None:
    commit = must_git("rev-parse", "HEAD", cwd=repository).decode().strip()
    assert faults(repository, "v1", "main", commit) == []
    assert not (repository.parent / "cache").exists()


def test_each_missing_ref_has_its_fault_with_near_names(repository: Path) -> None:
    found = faults(repository, "v1", "v11", "mian")
    assert len(found) == 2
    assert "'v11'" in found[0]
    assert "main" in found[1]


def test_a_repository_that_is_not_there_is_one_fault_for_all_its_refs(repository: Path) -> None:
    assert len(faults(repository, "v1", "v2", repo="./nothing")) == 1


def test_a_commit_in_the_cached_copy_needs_nobody(repository: Path) -> None:
    beside = repository.parent
    commit = bring("./project", "v1", beside=beside, cache=beside / "cache")
    subprocess.run(["git", "--git-dir", str(repository / ".git"), "config", "x.y", "z"], check=True)
    shutil.rmtree(repository / ".git")
    assert faults(repository, commit) == []
    assert len(faults(repository, "v1")) == 1


def test_a_checkout_is_as_large_as_its_files(repository: Path) -> None:
    beside, cache = repository.parent, repository.parent / "cache"
    assert checkout_bytes("./project", "v1", beside=beside, cache=cache) is None
    commit = bring("./project", "v1", beside=beside, cache=cache)
    assert checkout_bytes("./project", commit, beside=beside, cache=cache) == 1500


def test_of_what_is_not_there_no_size_is_known(tmp_path: Path) -> None:
    assert checkout_bytes("./nothing", "v1", beside=tmp_path, cache=tmp_path / "cache") is None
