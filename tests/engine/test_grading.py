"""Grading makes a record of every check, each with its reason, and runs no tests of what does not build."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.datasets import find_dataset, load_dataset
from runner.engine.grading import Grading, grade, resolved, untested
from runner.engine.isolation import IsolationLevel, choose
from runner.records import CheckPurpose, CheckRecord, CheckStatus
from tests import examples
from tests.engine.conftest import PROJECT

DATASETS = PROJECT / "datasets"
TASK = "quarter-hour-default"
SOLUTION = DATASETS / "hello-world" / "solutions" / f"{TASK}.patch"
BROKEN = (
    b"diff --git a/clockbook/more.py b/clockbook/more.py\nnew file mode 100644\n"
    b"--- /dev/null\n+++ b/clockbook/more.py\n@@ -0,0 +1 @@\n+def (\n"
)
LARGE = (
    b"diff --git a/large.txt b/large.txt\nnew file mode 100644\n"
    b"--- /dev/null\n+++ b/large.txt\n@@ -0,0 +1,1200 @@\n" + b"+a line\n" * 1200
)
WHO = examples.identity(TASK)


def graded(
    tmp_path: Path, patch: bytes, level: str = "none", numbers: dict[str, int] | None = None
) -> dict[str, CheckRecord]:
    path = find_dataset("hello-world", DATASETS)
    isolation = choose(level, private=())
    grading = Grading(
        load_dataset(path).task_by_id(TASK),
        path,
        tmp_path / "cache",
        tmp_path / "grading",
        wrap=isolation.check_wrap(),
        level=isolation.level.value,
    )
    records = grade(WHO, patch, grading, numbers)
    assert not (tmp_path / "grading").exists()
    return {record.name: record for record in records}


@pytest.mark.parametrize("level", [IsolationLevel.NONE, IsolationLevel.SANDBOX])
def test_a_solution_passes_every_check_in_every_isolation(tmp_path: Path, level: str) -> None:
    records = graded(tmp_path, SOLUTION.read_bytes(), level)
    assert {record.status for record in records.values()} == {CheckStatus.PASSED}
    assert {name: record.purpose for name, record in records.items()} == {
        "patch-applies": CheckPurpose.APPLIES,
        "rules": CheckPurpose.RULES,
        "build": CheckPurpose.BUILD,
        "hidden-tests": CheckPurpose.HIDDEN,
        "visible-tests": CheckPurpose.REGRESSION,
    }
    assert {record.isolation for record in records.values()} == {None, level}
    assert records["build"].timeout_seconds == 30
    hidden = records["hidden-tests"].tests
    assert hidden is not None
    assert len(hidden.passed) >= 3
    assert hidden.failed == ()


def test_tests_are_not_run_where_the_project_does_not_build(tmp_path: Path) -> None:
    records = graded(tmp_path, BROKEN)
    assert records["build"].status is CheckStatus.FAILED
    assert "SyntaxError" in records["build"].output_tail
    for name in ("hidden-tests", "visible-tests"):
        assert records[name].status is CheckStatus.NOT_RUN
        assert records[name].reason == "the project does not build (build: failed)"
    assert records["rules"].status is CheckStatus.PASSED


def test_a_patch_that_is_too_large_breaks_the_rules_and_is_graded_all_the_same(tmp_path: Path) -> None:
    records = graded(tmp_path, LARGE)
    assert records["rules"].status is CheckStatus.FAILED
    assert records["rules"].reason == "1200 lines are changed, at most 1000 may be"
    assert records["visible-tests"].status is CheckStatus.PASSED
    assert resolved(tuple(records.values())) is False


@pytest.mark.parametrize(
    ("patch", "reason"),
    [(b"", "the workspace was not changed"), (b"not a patch\n", "the patch does not apply")],
)
def test_without_a_patch_nothing_else_is_run(tmp_path: Path, patch: bytes, reason: str) -> None:
    records = graded(tmp_path, patch)
    assert records.pop("patch-applies").status is CheckStatus.FAILED
    assert {(record.status, record.reason) for record in records.values()} == {(CheckStatus.NOT_RUN, reason)}


def test_each_record_gets_the_number_that_is_asked_for(tmp_path: Path) -> None:
    records = graded(tmp_path, b"", numbers={"build": 3})
    assert (records["build"].number, records["rules"].number) == (3, 1)


def test_the_newest_run_of_each_check_decides() -> None:
    first = examples.check().model_copy(update={"purpose": CheckPurpose.HIDDEN})
    again = first.model_copy(update={"number": 2, "status": CheckStatus.FAILED})
    assert resolved((first,)) is True
    assert resolved((again, first)) is resolved((first, again)) is False
    ours = again.model_copy(update={"number": 3, "status": CheckStatus.ERROR})
    assert resolved((first, again, ours)) is None
    assert resolved(()) is None


def test_a_patch_that_only_applies_builds_and_breaks_nothing_is_not_called_resolved() -> None:
    told = {
        purpose: examples.check().model_copy(update={"name": purpose.value, "purpose": purpose})
        for purpose in CheckPurpose
    }
    silent = tuple(check for purpose, check in told.items() if purpose is not CheckPurpose.HIDDEN)
    assert (resolved(silent), untested(silent)) == (None, True)
    assert (resolved(tuple(told.values())), untested(tuple(told.values()))) == (True, False)
    older = examples.check().model_copy(update={"name": "patch-applies", "purpose": None})
    assert resolved((older,)) is None
    assert resolved((older.model_copy(update={"name": "tests"}),)) is True
