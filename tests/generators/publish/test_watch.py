"""Changes of the site's inputs are seen, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from generators.publish.watch import changes, snapshot


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("results/swe/m/h/s/d/t/1", "datasets", "site_src/assets", "generators"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text("a")
    (tmp_path / "results/swe/m/h/s/d/t/1/trial.json").write_text("{}")
    (tmp_path / "site_src/index.md").write_text("a")
    return tmp_path


def test_added_removed_and_altered_files_are_named(root: Path) -> None:
    before = snapshot(root)
    (root / "datasets" / "new.yaml").write_text("a")
    (root / "site_src/index.md").unlink()
    (root / "mkdocs.yml").write_text("ab")
    assert changes(before, snapshot(root)) == ("datasets/new.yaml", "mkdocs.yml", "site_src/index.md")


def test_a_change_of_the_same_length_is_seen_by_its_time(root: Path) -> None:
    before = snapshot(root)
    path = root / "results/swe/m/h/s/d/t/1/trial.json"
    path.write_text("[]")
    os.utime(path, ns=(1, 1))
    assert changes(before, snapshot(root)) == ("results/swe/m/h/s/d/t/1/trial.json",)


@pytest.mark.parametrize(
    "name",
    [
        "build/docs/index.md",
        "site/index.html",
        "results/.staging/a",
        "generators/__pycache__/a.pyc",
        "notes.md",
    ],
)
def test_what_is_no_input_is_not_watched(root: Path, name: str) -> None:
    before = snapshot(root)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("a")
    assert changes(before, snapshot(root)) == ()


def test_a_project_without_some_folders_is_watched_as_it_is(tmp_path: Path) -> None:
    assert snapshot(tmp_path) == {}


def test_a_dangling_link_is_passed_over(root: Path) -> None:
    (root / "datasets" / "gone").symlink_to(root / "nowhere")
    assert "datasets/gone" not in snapshot(root)
