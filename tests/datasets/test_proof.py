"""A dataset is proven task by task, and every way to fail is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.datasets import TaskProof, check_dataset
from runner.errors import DatasetError
from tests.datasets.samples import VALID, new_repository, write_dataset

SOLUTION = "diff --git a/n.txt b/n.txt\n--- a/n.txt\n+++ b/n.txt\n@@ -1 +1 @@\n-1\n+2\n"
CHECK = "import pathlib, sys; sys.exit(pathlib.Path('n.txt').read_text() != '2\\n')"


def prove(
    tmp_path: Path, code: str = CHECK, solution: str | None = SOLUTION, extra: str = "", ref: str = "v1"
) -> TaskProof:
    repository = new_repository(tmp_path / "source")
    repository.commit({"n.txt": b"1\n"})
    repository.git("tag", "v1")
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "hidden_check.py").write_text(code)
    keys = f"    checks: [{{name: a, command: [python, hidden_check.py], hidden_files: [hidden]{extra}}}]\n"
    if solution is not None:
        (tmp_path / "s.patch").write_text(solution)
        keys += "    reference_solution: s.patch\n"
    text = VALID[: VALID.index("  - id: second")].replace("https://example.org/team/project", "./source")
    text = text.replace("default_ref: v1", f"default_ref: {ref}").replace('"1.1"', '"1.2"')
    path = write_dataset(tmp_path, text.replace("    problem_statement", f"{keys}    problem_statement"))
    (proof,) = check_dataset(path, cache=tmp_path / "cache")
    return proof


def test_a_sound_task_is_proven(tmp_path: Path) -> None:
    proof = prove(tmp_path)
    assert (proof.ok, proof.reference_passes, proof.empty_patch_fails) == (True, True, True)
    assert proof.slowest_check_seconds is not None


@pytest.mark.parametrize(
    ("code", "solution", "extra", "expected"),
    [
        ("", SOLUTION, "", "all checks pass where nothing was changed"),
        ("import sys; print('no luck'); sys.exit(1)", SOLUTION, "", "does not pass a (failed): no luck"),
        (
            CHECK,
            SOLUTION.replace("-1", "-7"),
            "",
            "the reference solution does not apply: error: patch failed",
        ),
        (CHECK, "", "", "the reference solution does not pass a (failed): it wrote nothing"),
        (CHECK, None, "", "no reference_solution shows that they can be passed"),
        ("import time; time.sleep(30)", SOLUTION, ", timeout_seconds: 0.3", "a cannot be run (timeout)"),
    ],
)
def test_an_unsound_task_says_why(
    tmp_path: Path, code: str, solution: str | None, extra: str, expected: str
) -> None:
    proof = prove(tmp_path, code, solution, extra)
    assert not proof.ok
    assert any(expected in problem for problem in proof.problems), proof.problems


def test_a_repository_that_cannot_be_had_is_a_problem_of_the_task(tmp_path: Path) -> None:
    proof = prove(tmp_path, ref="v9")
    assert "no tag or branch 'v9'" in proof.problems[0]
    assert (proof.reference_passes, proof.empty_patch_fails) == (None, None)


def test_tasks_without_checks_are_skipped_and_reported_one_by_one(tmp_path: Path) -> None:
    seen: list[TaskProof] = []
    proofs = check_dataset(write_dataset(tmp_path), cache=tmp_path / "cache", on_task=seen.append)
    assert tuple(seen) == proofs
    assert [proof.skipped for proof in proofs] == ["it has no checks", "it has no checks"]
    assert all(proof.ok for proof in proofs)


def test_a_faulty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError):
        check_dataset(write_dataset(tmp_path, "name: x\n"), cache=tmp_path / "cache")


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("{name: build, purpose: build, command: [python, -c, pass]}", ""),
        (
            "{name: build, purpose: build, command: [python, -c, 'exit(1)']}",
            "build fails where nothing was changed",
        ),
        (
            "{name: lint, purpose: lint, command: [python, -c, 'exit(1)']}",
            "lint fails where nothing was changed",
        ),
        (
            "{name: old, purpose: regression, command: [python, -c, 'exit(1)']}",
            "old cannot be run (error): it fails",
        ),
    ],
)
def test_builds_and_old_tests_must_pass_before_any_patch(tmp_path: Path, check: str, expected: str) -> None:
    proof = prove(tmp_path, extra=f"}}, {check[:-1]}")
    assert any(expected in problem for problem in proof.problems) is bool(expected)
    assert ("build pass before it" in proof.line()) is not bool(expected)
