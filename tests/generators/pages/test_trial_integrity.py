"""A trial's page tells what was found of it, why it is void, and which tests passed and failed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generators.tables.facts import TrialFacts
from generators.tables.scoring import ScoreState
from runner.records import CheckStatus, IntegrityFinding, IntegrityRecord, Severity
from tests import examples
from tests.generators.pages.shown import Shown, pages_of
from tests.generators.tables.made import Made, cells

TASK = "quarter-hour-default"
CELL = "cells/model-a_endpoint/loop/fix/hello-world"
HOSTILE = "</td><script>alert(1)</script>"


def scanned(made: Made, *findings: IntegrityFinding) -> Made:
    """``made`` with a scan that found these."""
    scan = examples.scan(made.identity).model_copy(
        update={"findings": findings, "trial_sha256": made.record().digest()}
    )
    return replace(made, scans=(scan,))


def finding(severity: Severity, **changes: object) -> IntegrityFinding:
    fields: dict[str, object] = {
        "rule": "results-read",
        "severity": severity,
        "text": f"a folder of {HOSTILE}",
    }
    return IntegrityFinding.model_validate({**fields, "evidence": f"cat {HOSTILE}", **changes})


CHECKED = (CheckStatus.PASSED,)
FIRST = Made(TASK, (20, 20, 20, 20), checks=CHECKED)
SECOND = Made(TASK, (20, 20, 20, 20), trial=2, checks=CHECKED)
THIRD = Made(TASK, (20, 20, 20, 20), trial=3, checks=CHECKED)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """A void trial, one with a note, and one that was never scanned."""
    void = scanned(FIRST, finding(Severity.VOID, invocation=1, line=7), finding(Severity.NOTE, evidence=""))
    noted = scanned(SECOND, finding(Severity.NOTE, rule="tests-edited", path="tests/a.py"))
    return pages_of(tmp_path_factory.mktemp("integrity"), [void, noted, THIRD])


def test_a_void_trial_says_so_with_its_reason_and_its_correction(pages: dict[str, Shown]) -> None:
    shown = pages[f"{CELL}/{TASK}/1.md"]
    assert "This trial is void and counts as failed: integrity scan 1: results-read" in shown.body.text
    [row] = shown.table("Corrections of this record")
    assert (row["Field"], row["Was"], row["Is"]) == ("outcome", '"completed"', '"cheating"')
    assert "cheating" in shown.body.text


def test_each_finding_is_a_row_with_its_weight_and_evidence(pages: dict[str, Shown]) -> None:
    first, second = pages[f"{CELL}/{TASK}/1.md"].table("Findings of the newest scan")
    assert first["Weight"] == "voids the trial"
    assert first["Finding"].endswith("invocation 1, line 7 of the event stream")
    assert first["Evidence"] == f"cat {HOSTILE}"
    assert (second["Weight"].split(":")[0], second["Evidence"]) == ("a note", "none")


def test_a_note_changes_nothing(pages: dict[str, Shown]) -> None:
    shown = pages[f"{CELL}/{TASK}/2.md"]
    assert "void" not in shown.body.text.split("Checks")[0]
    assert "Corrections of this record" not in shown.labels()
    assert "1 finding" in shown.body.text
    assert "40% of the changed lines are those of the reference solution" in shown.body.text


def test_a_trial_that_was_never_scanned_says_so(pages: dict[str, Shown]) -> None:
    assert "This trial was not scanned" in pages[f"{CELL}/{TASK}/3.md"].body.text


def test_what_an_agent_wrote_stays_text(pages: dict[str, Shown]) -> None:
    for shown in pages.values():
        assert "<script>alert" not in shown.source


def test_the_page_about_a_run_explains_every_rule(pages: dict[str, Shown]) -> None:
    about = next(shown for shown in pages.values() if "Integrity rules" in shown.labels())
    rules = {row["Rule"] for row in about.table("Integrity rules")}
    assert rules == {"history", "upstream", "tests-edited", "reference-copied", "outside", "results-read",
                     "limits", "canary"}  # fmt: skip


def test_a_check_names_its_tests_before_and_after_the_patch(pages: dict[str, Shown]) -> None:
    source = pages[f"{CELL}/{TASK}/3.md"].source
    assert "Tests of check-0: 2 passed, 0 failed, 1 skipped" in source
    assert "passed: test_one" in source
    assert "before the patch, failed: test_two" in source


def facts_of(tmp_path: Path, made: Made) -> TrialFacts:
    [cell] = cells(tmp_path / "results", [made])
    [trial] = cell.trials
    return trial


def test_a_void_trial_is_failed_and_never_resolved(tmp_path: Path) -> None:
    trial = facts_of(tmp_path / "void", scanned(FIRST, finding(Severity.VOID)))
    assert (trial.state, trial.score, trial.resolved) == (ScoreState.FAILED, None, False)
    assert (trial.checks_passed, trial.checks_graded) == (1, 1)
    noted = facts_of(tmp_path / "noted", scanned(FIRST, finding(Severity.NOTE)))
    assert (noted.state, noted.score, noted.resolved) == (ScoreState.SCORED, 80.0, True)
    assert isinstance(noted.stored.scans[0], IntegrityRecord)
