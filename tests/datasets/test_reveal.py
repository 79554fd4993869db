"""Hidden files replace what the agent put there, and never leave the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner.datasets import TaskCheck, load_dataset, reveal_hidden_files
from runner.datasets.hidden import HiddenFile
from runner.errors import DatasetError, PathEscapeError
from tests.datasets.samples import VALID, write_dataset


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name, content in {
        "h/tests/test_a.py": "hidden",
        "h/run.sh": "#!/bin/sh\n",
        "g/tests/test_a.py": "second",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (folder / "h" / "__pycache__").mkdir()
    (folder / "h" / "__pycache__" / "x.pyc").write_text("x")
    (folder / "h" / "run.sh").chmod(0o755)
    check = "    checks: [{name: a, command: [x], hidden_files: [h]}]\n    problem_statement"
    return write_dataset(folder, VALID.replace("    problem_statement", check))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


def check_of(dataset: Path) -> TaskCheck:
    return load_dataset(dataset).tasks[0].checks[0]


def assert_revealed(workspace: Path) -> None:
    path = workspace / "tests" / "test_a.py"
    assert path.read_text() == "hidden"
    assert not path.is_symlink()
    assert not path.parent.is_symlink()
    assert os.access(workspace / "run.sh", os.X_OK)
    assert not (workspace / "__pycache__").exists()


def test_files_are_copied_with_their_mode(dataset: Path, workspace: Path) -> None:
    reveal_hidden_files(check_of(dataset), dataset, workspace)
    assert_revealed(workspace)


def test_revealing_twice_is_the_same_as_once(dataset: Path, workspace: Path) -> None:
    for _ in range(2):
        reveal_hidden_files(check_of(dataset), dataset, workspace)
    assert_revealed(workspace)


def test_other_files_of_the_agent_stay(dataset: Path, workspace: Path) -> None:
    (workspace / "tests").mkdir()
    (workspace / "tests" / "own.py").write_text("own")
    reveal_hidden_files(check_of(dataset), dataset, workspace)
    assert (workspace / "tests" / "own.py").read_text() == "own"


def test_a_file_a_folder_or_a_locked_file_in_the_way_is_replaced(dataset: Path, workspace: Path) -> None:
    (workspace / "tests" / "test_a.py").mkdir(parents=True)
    (workspace / "tests" / "test_a.py" / "x").write_text("x")
    (workspace / "run.sh").write_text("exit 0")
    (workspace / "run.sh").chmod(0)
    (workspace / "tests").chmod(0o500)
    reveal_hidden_files(check_of(dataset), dataset, workspace)
    assert_revealed(workspace)


def test_a_file_where_a_folder_belongs_is_replaced(dataset: Path, workspace: Path) -> None:
    (workspace / "tests").write_text("not a folder")
    reveal_hidden_files(check_of(dataset), dataset, workspace)
    assert_revealed(workspace)


@pytest.mark.parametrize("target", ["folder", "file", "dangling"])
def test_links_out_of_the_workspace_are_replaced_and_not_followed(
    tmp_path: Path, dataset: Path, workspace: Path, target: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    victim = outside / "test_a.py"
    victim.write_text("untouched")
    if target == "folder":
        (workspace / "tests").symlink_to(outside)
    else:
        (workspace / "tests").mkdir()
        (workspace / "tests" / "test_a.py").symlink_to(victim if target == "file" else tmp_path / "nothing")
    (workspace / "run.sh").hardlink_to(victim)
    reveal_hidden_files(check_of(dataset), dataset, workspace)
    assert_revealed(workspace)
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "nothing").exists()


def test_a_hidden_file_that_changed_since_loading_is_noticed(dataset: Path, workspace: Path) -> None:
    check = check_of(dataset)
    (dataset.parent / "h" / "tests" / "test_a.py").write_text("other")
    with pytest.raises(DatasetError, match="changed while the run was going on"):
        reveal_hidden_files(check, dataset, workspace)
    (dataset.parent / "h" / "tests" / "test_a.py").unlink()
    with pytest.raises(DatasetError, match="cannot be read"):
        reveal_hidden_files(check, dataset, workspace)


@pytest.mark.parametrize("target", ["../out", "/tmp/out", "a/../../out"])
def test_a_target_outside_is_refused(dataset: Path, workspace: Path, target: str) -> None:
    check = check_of(dataset)
    file = HiddenFile(source=check.hidden[0].source, target=target, sha256=check.hidden[0].sha256)
    with pytest.raises(PathEscapeError):
        reveal_hidden_files(check.model_copy(update={"hidden": (file,)}), dataset, workspace)


def test_of_two_folders_the_later_wins(dataset: Path, workspace: Path) -> None:
    dataset.write_text(dataset.read_text().replace("hidden_files: [h]", "hidden_files: [h, g]"))
    reveal_hidden_files(check_of(dataset), dataset, workspace)
    assert (workspace / "tests" / "test_a.py").read_text() == "second"
