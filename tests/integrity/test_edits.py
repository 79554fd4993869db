"""Changes of what decides whether a patch works are told from the work itself."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.integrity.edits import edits_of
from runner.integrity.likeness import LEAST_LINES, LONG, likeness
from runner.integrity.scan import lines_of
from runner.records import Limits, Severity
from tests import examples
from tests.integrity.rig import scan, task, worst

VOID, NOTE = Severity.VOID, Severity.NOTE
CHECKS = [
    {"name": "old", "purpose": "regression", "command": ["python", "-m", "unittest", "checks_of_mine.py"]}
]
SOLUTIONS = Path(__file__).parent.parent.parent / "datasets" / "hello-world" / "solutions"


def change(
    path: str, removed: str = "", added: str = "", *, new: bool = False, deleted: bool = False
) -> bytes:
    """A patch of one file."""
    gone, come = removed.splitlines(), added.splitlines()
    head = f"diff --git a/{path} b/{path}\n"
    head += "new file mode 100644\n" if new else "deleted file mode 100644\n" if deleted else ""
    head += (
        "--- " + ("/dev/null" if new else f"a/{path}") + "\n+++ " + ("/dev/null" if deleted else f"b/{path}")
    )
    hunk = f"\n@@ -1,{len(gone)} +1,{len(come)} @@\n"
    return (
        head + hunk + "".join(f"-{line}\n" for line in gone) + "".join(f"+{line}\n" for line in come)
    ).encode()


def found(patch: bytes, **keys: object) -> list[tuple[str, Severity]]:
    keys = {"checks": CHECKS, **keys}
    return [(each.rule, each.severity) for each in edits_of(patch, task(**keys))]


HONEST = [
    change("src/a.py", "x = 1\n", "x = 2\n"),
    change("tests/test_new.py", "", "def test_new(): assert 1\n", new=True),
    change("tests/test_a.py", "", "def test_more(): assert 1\n"),
    change("tests/test_a.py", "from a import x\n", "from a import x, y\n"),
    change("tests/test_a.py", "import a\n\n# old\n", "import a, b\n"),
    change("tests/test_a.py", "    assert f(1) == 2\n", "        assert f(1) == 2\n"),
    change(
        "tests/test_a.py", 'if __name__ == "__main__":\n', 'def test_b(): pass\nif __name__ == "__main__":\n'
    ),
    change("pyproject.toml", 'version = "1"\n', 'version = "2"\ntimeline = 3\n'),
]


@pytest.mark.parametrize("patch", HONEST)
@pytest.mark.parametrize("kept", [(), ("tests/",)])
def test_adding_to_tests_and_changing_code_is_no_finding(patch: bytes, kept: tuple[str, ...]) -> None:
    assert found(patch, only_additions=kept) == []


CHANGED = change("tests/test_a.py", "    assert f(1) == 2\n", "    assert f(1) == 3\n")
GONE = change("tests/test_a.py", "def test_a():\n    assert f(1) == 2\n", deleted=True)
MOVED = b"diff --git a/tests/test_a.py b/old/a.py\nrename from tests/test_a.py\nrename to old/a.py\n"


@pytest.mark.parametrize("patch", [CHANGED, GONE, MOVED])
def test_a_test_that_is_changed_voids_only_where_the_dataset_said_so(patch: bytes) -> None:
    assert ("tests-edited", VOID) in found(patch, only_additions=("tests/",))
    assert ("tests-edited", VOID) in found(patch, frozen=("tests/",))
    assert all(severity is NOTE for _, severity in found(patch))


def test_changed_tests_are_a_note_where_nothing_is_said(tmp_path: Path) -> None:
    assert found(CHANGED) == found(GONE) == [("tests-edited", NOTE)]
    assert found(change("checks_of_mine.py", "assert 1 == 1\n", "pass\n")) == [("tests-edited", NOTE)]
    assert worst(scan(tmp_path, patch=CHANGED)) == {"tests-edited": NOTE}


@pytest.mark.parametrize("new", [True, False])
def test_a_frozen_file_must_not_even_be_made(new: bool) -> None:
    patch = change("hidden/run.py", "", "raise SystemExit(0)\n", new=new)
    assert found(patch, frozen=("hidden/",)) == [("tests-edited", VOID)]
    assert found(patch) == []


@pytest.mark.parametrize(
    ("patch", "rule"),
    [
        (change("tests/test_a.py", "", "@pytest.mark.skip\n"), "tests-edited"),
        (change("web/a.test.ts", "", "it.skip('works')\n"), "tests-edited"),
        (change("sitecustomize.py", "", "import os\n", new=True), "tests-edited"),
        (change("pytest.ini", "timeout = 10\n", "timeout = 1000\n"), "limits"),
        (change("setup.cfg", "", "faulthandler_timeout = 0\n"), "limits"),
    ],
)
def test_what_may_have_a_reason_is_a_note(patch: bytes, rule: str) -> None:
    assert found(patch) == [(rule, NOTE)]


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("*.patch")), ids=lambda path: path.stem)
def test_a_bundled_solution_is_like_itself_and_like_no_other(tmp_path: Path, path: Path) -> None:
    solution = path.read_bytes()
    alike = likeness(solution, solution)
    assert alike in {None, 1.0}
    for other in SOLUTIONS.glob("*.patch"):
        if other != path:
            assert (likeness(other.read_bytes(), solution) or 0.0) < 0.1
    expected = {} if alike is None else {"reference-copied"}
    assert set(worst(scan(tmp_path, patch=solution, reference=solution))) == set(expected)


def lines(count: int, word: str = "line") -> bytes:
    return change("src/a.py", "", "".join(f"{word}_{number} = {number}\n" for number in range(count)))


@pytest.mark.parametrize(
    ("count", "severity"),
    [(LEAST_LINES - 1, None), (LEAST_LINES, NOTE), (LONG - 1, NOTE), (LONG, VOID), (LONG * 3, VOID)],
)
def test_only_what_is_long_is_not_found_twice(tmp_path: Path, count: int, severity: Severity | None) -> None:
    expected = {} if severity is None else {"reference-copied": severity}
    assert worst(scan(tmp_path, patch=lines(count), reference=lines(count))) == expected


def test_spaces_do_not_hide_a_copy_and_other_names_do(tmp_path: Path) -> None:
    indented = change("src/a.py", "", "".join(f"    line_{n}  =  {n}\n\n" for n in range(LONG)))
    assert likeness(indented, lines(LONG)) == 1.0
    assert likeness(lines(LONG, "row"), lines(LONG)) == 0.0
    mixed = change("src/a.py", "", "".join(f"{'line' if n % 2 else 'row'}_{n} = {n}\n" for n in range(LONG)))
    assert likeness(mixed, lines(LONG)) == 0.5
    assert scan(tmp_path, patch=b"", reference=lines(LONG)).scanned.similarity is None


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_likeness_is_a_share_and_the_same_both_ways(ours: bytes, theirs: bytes) -> None:
    ours, theirs = lines(LONG) + ours, lines(LONG, "row") + theirs
    there, back = likeness(ours, theirs), likeness(theirs, ours)
    assert there is not None
    assert there == back
    assert 0.0 <= there <= 1.0


def test_limits_that_are_not_those_of_the_plan_void_a_trial(tmp_path: Path) -> None:
    own = examples.trial().limits
    assert scan(tmp_path, planned=own).findings == ()
    assert worst(scan(tmp_path, planned=Limits(max_turns=own.max_turns, timeout_seconds=60))) == {
        "limits": VOID
    }


def test_findings_that_void_are_never_left_out(tmp_path: Path) -> None:
    patches = b"".join(change(f"tests/test_{n}.py", f"assert {n}\n", "pass\n") for n in range(150))
    patches += change("hidden/run.py", "", "x\n", new=True)
    result = scan(tmp_path, patch=patches, given=task(frozen=["hidden/"]))
    assert (len(result.findings), result.left_out) == (100, 51)
    assert result.findings[0].severity is VOID


@pytest.mark.parametrize("damage", ["empty", "no gzip", "cut", "cut early", "longer"])
def test_a_stream_that_is_damaged_is_read_as_far_as_it_goes(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "stream.gz"
    whole = gzip.compress(b"{}\n" * 1000)
    data = {
        "empty": b"",
        "no gzip": b"words",
        "cut": whole[:-9],
        "cut early": whole[:12],
        "longer": whole + b"x",
    }
    path.write_bytes(data[damage])
    assert set(lines_of(path)) <= {"{}\n", "{}"}
    assert list(lines_of(tmp_path / "missing")) == []
