"""A check is run on fresh checkouts; a regression check counts only what passed before the patch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.datasets import Task, load_dataset, make_patch, seal
from runner.datasets.trying import Tried, Workbench
from runner.errors import DatasetError
from runner.records import CheckStatus
from tests.datasets.samples import VALID, new_repository, write_dataset

CALC = b"def add(a, b):\n    return a + b\ndef sub(a, b):\n    return a - b\n"
TESTS = b"""\
import unittest
from calc import add, sub
class Calc(unittest.TestCase):
    def test_add(self): self.assertEqual(add(1, 2), 3)
    def test_sub(self): self.assertEqual(sub(3, 2), 1)
    def test_hopeless(self): self.assertEqual(add(1, 1), 3)
"""
GOLDEN = "2b54f00abb5333b29c7151a1639c4e6d7de92a355c163a5a6576ac991b5d5d72"
"""Digest of the first task of the sample, made before those keys were there."""
COMMAND = "[python, -m, unittest, -v, test_calc]"


class Stage:
    """A dataset with one task, one check and a repository of its own."""

    def __init__(self, folder: Path, check: str, extra: str = "") -> None:
        self.folder = folder
        repository = new_repository(folder / "source")
        repository.commit({"calc.py": CALC, "test_calc.py": TESTS})
        repository.git("tag", "v1")
        text = VALID[: VALID.index("  - id: second")].replace("https://example.org/team/project", "./source")
        text = text.replace('"1.1"', '"1.2"') + f"    checks: [{check}]\n{extra}"
        self.path = write_dataset(folder, text)
        self.task: Task = load_dataset(self.path).tasks[0]
        self.bench = Workbench(self.task, self.path, folder / "cache", folder / "scratch")

    def patch(self, files: Mapping[str, bytes | None]) -> bytes:
        work, git = self.folder / "work", self.folder / "work.git"
        checkout = seal(
            self.task.repo, "v1", beside=self.folder, cache=self.folder / "cache", workspace=work, git_dir=git
        )
        for name, content in files.items():
            (work / name).unlink(missing_ok=True)
            if content is not None:
                (work / name).write_bytes(content)
        return make_patch(checkout)

    def attempt(self, files: Mapping[str, bytes | None]) -> Tried:
        return self.bench.attempt(self.task.checks[0], self.patch(files))


def regression(tmp_path: Path, extra: str = "", command: str = COMMAND, more: str = "") -> Stage:
    check = f"{{name: old, purpose: regression, command: {command}, timeout_seconds: 120{more}}}"
    return Stage(tmp_path, check, extra)


def test_a_test_that_failed_before_may_fail_still(tmp_path: Path) -> None:
    tried = regression(tmp_path).attempt({"calc.py": CALC + b"def mul(a, b):\n    return a * b\n"})
    assert (tried.status, tried.exit_code) == (CheckStatus.PASSED, 1)
    assert tried.base is not None
    assert tried.base.tests is not None
    assert {name.split(" ")[0] for name in tried.base.tests.passed} == {"test_add", "test_sub"}
    assert tried.tests is not None
    assert [name.split(" ")[0] for name in tried.tests.failed] == ["test_hopeless"]
    assert tried.reason == "1 tests fail that did not pass before"


def test_a_test_that_passed_before_and_fails_now_is_named(tmp_path: Path) -> None:
    tried = regression(tmp_path).attempt({"calc.py": CALC.replace(b"a - b", b"b - a")})
    assert tried.status is CheckStatus.FAILED
    assert tried.reason is not None
    assert "test_sub" in tried.reason
    assert "test_add" not in tried.reason


def test_a_test_that_is_gone_did_not_pass(tmp_path: Path) -> None:
    without = TESTS.replace(b"def test_sub", b"def left_out")
    tried = regression(tmp_path).attempt({"test_calc.py": without})
    assert tried.status is CheckStatus.FAILED
    assert "test_sub" in (tried.reason or "")


def test_tests_that_a_task_keeps_are_put_back_before_they_run(tmp_path: Path) -> None:
    stage = regression(tmp_path, "    only_additions: ['test_*.py']\n")
    broken = CALC.replace(b"a - b", b"b - a")
    easy = TESTS.replace(b"self.assertEqual(sub(3, 2), 1)", b"pass")
    assert stage.attempt({"calc.py": broken, "test_calc.py": easy}).status is CheckStatus.FAILED


def test_a_kept_test_that_was_replaced_by_a_link_is_put_back(tmp_path: Path) -> None:
    stage = regression(tmp_path, "    frozen: ['test_*.py']\n")
    outside = tmp_path / "outside.py"
    outside.write_bytes(b"untouched")
    work = tmp_path / "work"
    checkout = seal(
        stage.task.repo,
        "v1",
        beside=tmp_path,
        cache=tmp_path / "cache",
        workspace=work,
        git_dir=tmp_path / "g",
    )
    (work / "test_calc.py").unlink()
    (work / "test_calc.py").symlink_to(outside)
    tried = stage.bench.attempt(stage.task.checks[0], make_patch(checkout))
    assert tried.status is CheckStatus.PASSED
    assert outside.read_bytes() == b"untouched"


def test_output_that_claims_success_does_not_turn_a_failure_round(tmp_path: Path) -> None:
    liar = CALC.replace(b"a - b", b"b - a") + b"print('test_sub (test_calc.Calc.test_sub) ... ok')\n"
    assert regression(tmp_path).attempt({"calc.py": liar}).status is CheckStatus.FAILED


def test_a_report_file_that_the_patch_brought_is_not_believed(tmp_path: Path) -> None:
    report = b'<testsuite><testcase name="test_add"/></testsuite>'
    command = '[python, -c, "import calc, sys; sys.exit(calc.add(1, 2) != 3)"]'
    stage = regression(tmp_path, command=command, more=", report: junit report.xml")
    tried = stage.attempt({"calc.py": CALC + b"# more\n", "report.xml": report})
    assert (tried.status, tried.tests) == (CheckStatus.PASSED, None)


@pytest.mark.parametrize(
    ("code", "calc", "status"),
    [
        ("calc.add(1, 2) != 3", CALC + b"#\n", CheckStatus.PASSED),
        ("calc.add(1, 2) != 3", CALC.replace(b"a + b", b"0"), CheckStatus.FAILED),
        ("calc.add(1, 2) != 4", CALC + b"#\n", CheckStatus.ERROR),
    ],
)
def test_without_names_the_exit_code_decides(
    tmp_path: Path, code: str, calc: bytes, status: CheckStatus
) -> None:
    stage = regression(tmp_path, command=f'[python, -c, "import calc, sys; sys.exit({code})"]')
    assert stage.attempt({"calc.py": calc}).status is status


def test_a_command_that_never_ends_before_the_patch_says_nothing_about_it(tmp_path: Path) -> None:
    stage = regression(tmp_path, command='[python, -c, "import time; time.sleep(60)"]')
    stage.task.checks[0].__dict__["timeout_seconds"] = 0.5
    tried = stage.attempt({"calc.py": CALC + b"#\n"})
    assert tried.status is CheckStatus.ERROR
    assert "before the patch" in (tried.reason or "")


def test_the_run_before_the_patch_is_made_once_for_all_trials(tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.touch()
    command = f"[python, -c, \"open({str(count)!r}, 'a').write(chr(120))\"]"
    stage = regression(tmp_path, command=command)
    patch = stage.patch({"calc.py": CALC + b"#\n"})
    for _ in range(3):
        assert stage.bench.attempt(stage.task.checks[0], patch).status is CheckStatus.PASSED
    assert count.read_text() == "x" * 4


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    stage = regression(tmp_path)
    stage.attempt({"calc.py": CALC + b"#\n"})
    assert list((tmp_path / "scratch").iterdir()) == []


NEW_KEYS = {
    "    frozen: [tests/]\n": "frozen",
    "    only_additions: [tests/]\n": "only_additions",
    "    rules: {max_changed_files: 3}\n": "rules",
    "    checks: [{name: a, command: [x], purpose: build}]\n": "purpose",
    "    checks: [{name: a, command: [x], report: pytest}]\n": "report",
}


@pytest.mark.parametrize("key", NEW_KEYS)
def test_a_new_key_in_a_file_of_the_older_version_names_the_version_it_needs(
    tmp_path: Path, key: str
) -> None:
    text = VALID[: VALID.index("  - id: second")] + key
    with pytest.raises(DatasetError, match=rf"{NEW_KEYS[key]}.*needs schema_version '1\.2'"):
        load_dataset(write_dataset(tmp_path, text))
    load_dataset(write_dataset(tmp_path, text.replace('"1.1"', '"1.2"')))


def test_what_a_dataset_declares_holds_for_its_tasks_beside_their_own(tmp_path: Path) -> None:
    text = VALID.replace('"1.1"', '"1.2"').replace(
        "tasks:\n",
        "checks: [{name: build, purpose: build, command: [m]}, {name: lint, purpose: lint, command: [x]}]\n"
        "rules: {max_changed_lines: 9}\nfrozen: [a/]\nonly_additions: [b/]\ntasks:\n",
    )
    text += "    frozen: [c/]\n    checks: [{name: lint, purpose: lint, command: [y]}]\n"
    first, second = load_dataset(write_dataset(tmp_path, text)).tasks
    assert [(check.name, check.command) for check in first.checks] == [("build", ("m",)), ("lint", ("x",))]
    assert [(check.name, check.command) for check in second.checks] == [("lint", ("y",)), ("build", ("m",))]
    assert second.kept == ("a/", "c/", "b/")
    assert first.rules == second.rules
    assert first.digest() != load_dataset(write_dataset(tmp_path, VALID)).tasks[0].digest()


def test_new_keys_that_say_nothing_leave_every_older_digest_as_it_was(tmp_path: Path) -> None:
    before = load_dataset(write_dataset(tmp_path, VALID)).tasks[0].digest()
    text = VALID.replace("    problem_statement: Do it.\n", "    problem_statement: Do it.\n    frozen: []\n")
    assert load_dataset(write_dataset(tmp_path, text.replace('"1.1"', '"1.2"'))).tasks[0].digest() == before
    assert before == GOLDEN


@pytest.mark.parametrize("name", ["patch-applies", "rules"])
def test_a_check_must_not_take_the_name_of_one_that_is_always_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match="always made"):
        Stage(tmp_path, f"{{name: {name}, command: [x]}}")
