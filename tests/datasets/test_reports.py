"""Names of tests are read from what real test programs print; a lie turns no failure round."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.datasets.reports import (
    MAX_TESTS,
    Outcomes,
    check_report,
    from_junit,
    from_pytest,
    from_unittest,
    read_report,
)
from runner.records.check import MAX_NAMES

CASES = '''
import unittest
class Case(unittest.TestCase):
    def test_fine(self): pass
    def test_wrong(self): self.assertEqual(1, 2)
    def test_broken(self): raise RuntimeError
    def test_with_words(self):
        """What it is about."""
        print("something printed")
    @unittest.skip("not today")
    def test_left(self): pass
    @unittest.expectedFailure
    def test_known(self): self.fail()
    @unittest.expectedFailure
    def test_surprise(self): pass
    def test_parts(self):
        for each in (1, 2):
            with self.subTest(each=each): self.assertEqual(each, 1)
'''
PYTEST_CASES = """
import pytest
def test_fine(): pass
def test_wrong(): assert 0
@pytest.fixture
def broken(): raise RuntimeError
def test_broken(broken): pass
@pytest.mark.skip
def test_left(): pass
@pytest.mark.xfail
def test_known(): assert 0
@pytest.mark.parametrize("x", ["a - b", "c d"])
def test_many(x): pass
"""


def printed(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    return done.stdout + done.stderr


def short(names: list[str]) -> set[str]:
    return {name.split(" ")[0].split("::")[-1] for name in names}


def test_unittest_tells_by_itself(tmp_path: Path) -> None:
    (tmp_path / "test_case.py").write_text(CASES)
    found = read_report(None, printed(tmp_path, "-m", "unittest", "-v", "test_case"), tmp_path)
    assert found is not None
    record = found.record()
    assert record.report == "unittest"
    assert short(list(record.passed)) == {"test_fine", "test_with_words", "test_known"}
    assert short(list(record.failed)) == {"test_wrong", "test_broken", "test_surprise", "test_parts"}
    assert short(list(record.skipped)) == {"test_left"}


@pytest.mark.parametrize("flags", [("-v",), ("-q", "-rA"), ("-v", "-rA"), ("-rA", "--color=yes")])
def test_pytest_tells_by_itself(tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / "test_case.py").write_text(PYTEST_CASES)
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *flags, "test_case.py")
    found = read_report(None, printed(tmp_path, *words), tmp_path)
    assert found is not None
    record = found.record()
    assert record.report == "pytest"
    assert {"test_fine", "test_known"} <= short(list(record.passed))
    assert any(name.startswith("test_case.py::test_many[") for name in record.passed)
    assert short(list(record.failed)) == {"test_wrong", "test_broken"}


def test_a_junit_file_is_read_where_it_is_declared(tmp_path: Path) -> None:
    (tmp_path / "test_case.py").write_text(PYTEST_CASES)
    printed(
        tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "--junit-xml", "out/report.xml", "test_case.py"
    )
    found = read_report("junit out/report.xml", "", tmp_path)
    assert found is not None
    assert "test_case::test_fine" in found.record().passed
    assert set(found.record().failed) == {"test_case::test_wrong", "test_case::test_broken"}
    assert short(list(found.record().skipped)) == {"test_left", "test_known"}


@pytest.mark.parametrize("output", ["", "OK\n", "ok\n" * 5, "....\n4 passed in 0.1s\n", "FAIL\n", "PASSED\n"])
def test_output_without_names_tells_none(output: str, tmp_path: Path) -> None:
    assert read_report(None, output, tmp_path) is None


def test_a_test_that_is_told_of_twice_has_the_worse_of_both() -> None:
    for lines in ("test_a (m.C.test_a) ... ok\ntest_a (m.C.test_a) ... FAIL\n",
                  "test_a (m.C.test_a) ... FAIL\ntest_a (m.C.test_a) ... ok\n"):  # fmt: skip
        assert from_unittest(lines).named("failed") == ["test_a (m.C.test_a)"]


@pytest.mark.parametrize(
    "xml",
    [
        b"",
        b"<testsuite>",
        b"not xml",
        b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>',
        "<!DOCTYPE x><testsuite/>".encode("utf-16"),
        b"<a>" * 200 + b"</a>" * 200,
    ],
)
def test_a_junit_file_that_is_broken_or_declares_anything_is_refused(xml: bytes) -> None:
    assert from_junit(xml) is None


def test_a_report_that_leads_out_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "report.xml").write_text('<testsuite><testcase name="secret"/></testsuite>')
    (workspace / "report.xml").symlink_to(outside / "report.xml")
    (workspace / "link").symlink_to(outside)
    (workspace / "folder.xml").mkdir()
    for name in ("report.xml", "link/report.xml", "folder.xml", "missing.xml"):
        assert read_report(f"junit {name}", "", workspace) is None


@pytest.mark.parametrize("declared", ["unittest", "pytest", "junit build/report.xml"])
def test_a_declared_format_is_taken(declared: str) -> None:
    assert check_report(declared) == declared


@pytest.mark.parametrize(
    "declared", ["", "tap", "junit", "junit ", "junit /etc/passwd", "junit ../x", "Pytest"]
)
def test_any_other_is_refused(declared: str) -> None:
    with pytest.raises(ValueError, match=r"must|expected"):
        check_report(declared)


def test_many_tests_are_counted_and_not_all_listed() -> None:
    outcomes = Outcomes("pytest")
    for number in range(MAX_TESTS + 10):
        outcomes.add(f"test_{number}", "passed")
    record = outcomes.record()
    assert (len(record.passed), record.left_out) == (MAX_NAMES, MAX_TESTS - MAX_NAMES)


@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda data: data.decode("utf-8", "replace")))
def test_no_text_is_a_fault_and_names_fit_a_record(text: str) -> None:
    shown = f"test_a (m.C) ... {text}\n=== short test summary info ===\nPASSED x::{text}\n"
    for outcomes in (from_unittest(shown), from_pytest(shown)):
        assert outcomes.record().left_out == 0


@given(st.binary(max_size=300))
def test_no_bytes_of_a_junit_file_are_a_fault(data: bytes) -> None:
    for document in (data, b'<testsuite><testcase name="a">' + data, b"<testsuite>" + data + b"</testsuite>"):
        found = from_junit(document)
        assert found is None or found.record().left_out == 0


@given(st.lists(st.tuples(st.from_regex(r"test_[a-z]{1,8}", fullmatch=True), st.booleans()), max_size=20))
def test_every_test_of_a_run_is_told_of_once(tests: list[tuple[str, bool]]) -> None:
    output = "".join(f"{name} (m.C.{name}) ... {'ok' if fine else 'FAIL'}\n" for name, fine in tests)
    record = from_unittest(output).record()
    failed = {name for name, fine in tests if not fine}
    assert short(list(record.failed)) == failed
    assert short(list(record.passed)) == {name for name, _ in tests} - failed
