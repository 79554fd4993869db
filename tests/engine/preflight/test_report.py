"""Report: counted, shown, and a refusal that names every failure with its fix."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from runner.engine.preflight.flight import show
from runner.engine.preflight.question import Line
from runner.engine.preflight.report import Report
from runner.errors import ConfigurationError
from runner.providers.checks import Check, CheckState


def line(state: CheckState, name: str = "endpoint", found: str = "found", fix: str = "") -> Line:
    return Line("m at endpoint", Check(name, state, found, fix))


GOOD, WARNED = line(CheckState.PASS), line(CheckState.WARN, "price", "not given", "--price-input")
BAD = line(CheckState.FAIL, found="refused", fix="start it")
WORSE = line(CheckState.FAIL, "disk", "full", "empty it")


def test_a_clean_report_is_one_line_and_exit_0() -> None:
    report = Report.of([GOOD, line(CheckState.PASS, "git")])
    assert (report.summary(), report.exit_code) == ("pre-flight: 2 checks passed", 0)
    report.require()
    assert report.to_do() == []


def test_warnings_are_told_and_do_not_refuse() -> None:
    report = Report.of([GOOD, WARNED])
    report.require()
    assert report.exit_code == 0
    assert report.warnings() == ["warn: m at endpoint: price: not given", "  fix: --price-input"]
    assert report.summary() == "pre-flight: 1 check passed, 1 to know of"


def test_one_failure_is_refused_in_its_own_words() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Report.of([GOOD, WARNED, BAD]).require()
    assert (caught.value.what, caught.value.remedy) == ("refused", "start it")
    assert caught.value.where == "m at endpoint: endpoint"


def test_several_failures_are_all_named_with_their_fixes() -> None:
    report = Report.of([BAD, GOOD, WORSE])
    with pytest.raises(ConfigurationError) as caught:
        report.require()
    message = caught.value.message()
    assert all(word in message for word in ("2 checks", "refused", "start it", "full", "empty it"))
    assert (report.exit_code, caught.value.exit_code) == (1, 1)


def test_the_same_line_is_said_once() -> None:
    assert len(Report.of([BAD, GOOD, BAD]).lines) == 2


def test_failures_come_before_warnings_in_what_is_to_be_done() -> None:
    texts = [text for text in Report.of([WARNED, BAD]).to_do() if not text.startswith(" ")]
    assert [text.split(":")[0] for text in texts] == ["fail", "warn"]


def printed(report: Report, width: int = 100) -> str:
    output = io.StringIO()
    show(report, Console(file=output, width=width))
    return output.getvalue()


def test_a_fix_stands_on_one_line_however_narrow_the_terminal_is() -> None:
    fix = "invoke harness-install codex " + "x" * 120
    assert f"  fix: {fix}\n" in printed(Report.of([line(CheckState.FAIL, fix=fix)]), width=40)


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_of_a_stranger_becomes_markup_or_steers_the_terminal(found: str, fix: str) -> None:
    text = printed(Report.of([line(CheckState.FAIL, found=found, fix=fix)]))
    assert "\x1b" not in text
    assert "fail" in text


def test_brackets_are_shown_as_they_are() -> None:
    assert "[bold]no[/bold]" in printed(Report.of([line(CheckState.FAIL, found="[bold]no[/bold]")]))
