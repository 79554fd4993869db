"""The date of a build comes from its inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generators.publish.clock import source_date_epoch
from tests.generators.publish.project import git


def record(root: Path, name: str, content: object) -> None:
    path = root / "results" / "swe" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def committed(root: Path) -> Path:
    git(root, "init", "--quiet", "--initial-branch=main", ".")
    git(root, "commit", "--quiet", "--allow-empty", "--message=first")
    return root


def test_a_commit_dates_the_build_whatever_the_records_say(tmp_path: Path) -> None:
    record(tmp_path, "a.json", {"ended_at": "2030-01-01T00:00:00Z"})
    assert source_date_epoch(committed(tmp_path)) == 1_700_000_000


def test_a_git_directory_named_by_the_caller_does_not_date_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    committed(other)
    project = tmp_path / "project"
    project.mkdir()
    record(project, "a.json", {"ended_at": "2026-01-01T00:00:00Z"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert source_date_epoch(project) == 1_767_225_600


def test_without_git_the_newest_record_dates_the_build(tmp_path: Path) -> None:
    record(tmp_path, "a.json", {"started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T01:00:00Z"})
    record(tmp_path, "b/c.json", {"judged_at": "2026-01-02T00:00:00+00:00", "ended_at": None})
    assert source_date_epoch(tmp_path) == 1_767_312_000


def test_a_repository_without_a_commit_counts_as_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", ".")
    record(tmp_path, "a.json", {"ended_at": "2026-01-01T00:00:00Z"})
    assert source_date_epoch(tmp_path) == 1_767_225_600


def test_records_that_cannot_date_a_build_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "broken.json").write_bytes(b"{\xff")
    record(tmp_path, "list.json", [1, 2])
    record(
        tmp_path, "odd.json", {"ended_at": "yesterday", "started_at": 5, "judged_at": "2026-01-01T00:00:00"}
    )
    assert source_date_epoch(tmp_path) == 0
    record(tmp_path, "good.json", {"created_at": "2026-01-01T00:00:00Z"})
    assert source_date_epoch(tmp_path) == 1_767_225_600


def test_no_results_at_all_still_gives_one_date(tmp_path: Path) -> None:
    assert source_date_epoch(tmp_path) == source_date_epoch(tmp_path) == 0
