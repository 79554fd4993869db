"""Facts of a trial: each value derived once, and unknown where the record does not tell."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.tables.facts import derive_facts, latest_checks
from generators.tables.sample import Sample
from generators.tables.scoring import ScoreState
from runner.records import (
    Artifact,
    ArtifactState,
    CheckPurpose,
    CheckStatus,
    CostBasis,
    PublishedFigures,
    Standing,
)
from runner.store import StoredTrial
from tests import examples
from tests.generators.tables.made import Made
from tests.generators.tables.memory import NO_PRICES, NOWHERE, facts, stored, yardstick

UNDATED: dict[str, object] = {"started_at": None, "ended_at": None}


def published(**values: object) -> PublishedFigures:
    """A published row with these values."""
    return PublishedFigures.model_validate(values)


def test_the_day_is_that_of_the_end_then_of_the_start_then_of_the_source() -> None:
    start, end = datetime(2026, 1, 30, 23, 59, tzinfo=UTC), datetime(2026, 1, 31, 0, 1, tzinfo=UTC)
    row = published(run_date="2026-08-15")
    both = facts(Made(changes={"started_at": start, "ended_at": end, "published": row}))
    assert both.run_date == date(2026, 1, 31)
    begun = facts(Made(changes={"started_at": start, "ended_at": None, "published": row}))
    assert begun.run_date == date(2026, 1, 30)
    assert facts(Made(changes={**UNDATED, "published": row})).run_date == date(2026, 8, 15)
    assert facts(Made(changes=UNDATED)).run_date is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-08-15T10:00:00Z", date(2026, 8, 15)),
        ("2026-08-15T23:00:00+09:00", date(2026, 8, 15)),
        ("last Tuesday", None),
        ("", None),
        ("2026-13-01", None),
    ],
)
def test_a_day_of_a_source_is_read_or_unknown(text: str, day: date | None) -> None:
    assert facts(Made(changes={**UNDATED, "published": published(run_date=text)})).run_date == day


@given(st.text(max_size=30))
def test_no_text_in_place_of_a_day_is_a_fault(text: str) -> None:
    found = facts(Made(changes={**UNDATED, "published": published(run_date=text)})).run_date
    assert found is None or isinstance(found, date)


def test_the_tier_of_the_dataset_goes_before_the_published_one() -> None:
    row: dict[str, object] = {"published": published(complexity="high")}
    assert facts(Made(changes=row), complexity="low").complexity == "low"
    assert facts(Made(changes=row)).complexity == "high"
    assert facts(Made()).complexity is None


def test_minutes_and_tokens_are_unknown_where_the_record_does_not_tell() -> None:
    silent: dict[str, object] = {"duration_seconds": None, "usage": None}
    assert facts(Made(changes=silent)).minutes is None
    assert facts(Made(changes=silent)).tokens is None
    told = facts(Made(changes={"duration_seconds": 90.0, "usage": examples.usage()}))
    assert told.minutes == 1.5
    assert told.tokens == 4_006 + 166 + 12_000 + 1_200


def test_one_missing_count_makes_the_tokens_unknown() -> None:
    usage = examples.usage().model_copy(update={"cache_write_tokens": None})
    assert facts(Made(changes={"usage": usage})).tokens is None


def test_the_latest_run_of_a_check_decides_and_our_own_errors_grade_nothing() -> None:
    record = examples.check()

    def run(name: str, number: int, status: CheckStatus) -> object:
        return record.model_copy(update={"name": name, "number": number, "status": status})

    runs = (
        run("tests", 2, CheckStatus.PASSED),
        run("tests", 1, CheckStatus.FAILED),
        run("build", 1, CheckStatus.PASSED),
        run("build", 2, CheckStatus.ERROR),
        run("lint", 1, CheckStatus.ERROR),
    )
    trial = StoredTrial(examples.trial(), (), runs, NOWHERE)  # type: ignore[arg-type]
    assert latest_checks(trial) == {"tests": CheckStatus.PASSED, "build": CheckStatus.PASSED}


@pytest.mark.parametrize(
    ("checks", "passed", "graded", "resolved"),
    [
        ((), None, None, None),
        ((CheckStatus.ERROR,), None, None, None),
        ((CheckStatus.PASSED,), 1, 1, True),
        ((CheckStatus.PASSED, CheckStatus.ERROR), 1, 1, None),
        ((CheckStatus.PASSED, CheckStatus.TIMEOUT), 1, 2, False),
        ((CheckStatus.NOT_RUN, CheckStatus.FAILED), 0, 2, False),
    ],
)
def test_resolved_means_every_graded_check_passed(
    checks: tuple[CheckStatus, ...], passed: int | None, graded: int | None, resolved: bool | None
) -> None:
    found = facts(Made(points=None, checks=checks))
    assert (found.checks_passed, found.checks_graded, found.resolved) == (passed, graded, resolved)


def test_without_hidden_tests_no_trial_is_resolved_and_its_cost_still_counts() -> None:
    found = facts(Made(points=None, checks=(CheckStatus.PASSED,), purpose=CheckPurpose.APPLIES))
    assert (found.checks_passed, found.checks_graded, found.resolved) == (1, 1, None)
    assert Sample((found,), 1).graded == (found,)


def test_a_trial_that_is_left_out_has_neither_score_nor_verdict() -> None:
    found = facts(Made(checks=(CheckStatus.PASSED,), standing=Standing.PROBE))
    assert (found.state, found.score, found.resolved) == (ScoreState.EXCLUDED, None, None)


def test_a_reason_to_leave_out_keeps_an_earlier_one() -> None:
    reason = "made from another version of the dataset"
    plain = derive_facts(stored(Made()), NO_PRICES, yardstick(), None, excluded=reason)
    assert (plain.state, plain.state_reason) == (ScoreState.EXCLUDED, reason)
    probe = derive_facts(stored(Made(standing=Standing.PROBE)), NO_PRICES, yardstick(), None, excluded=reason)
    assert probe.state_reason == "probe: replaced"


def test_a_score_by_another_rubric_is_no_score() -> None:
    assert facts(Made()).score == 75.0
    assert facts(Made(), rubric="newer-2").state is ScoreState.UNSCORED
    assert facts(Made(), rubric="newer-2").score is None


@pytest.mark.parametrize(
    ("changes", "checks", "own"),
    [
        ({"invocations": (), "artifacts": ()}, (), False),
        ({"invocations": ()}, (), True),
        ({"artifacts": ()}, (), True),
        ({"invocations": (), "artifacts": ()}, (CheckStatus.PASSED,), True),
        (
            {
                "invocations": (),
                "artifacts": (Artifact(name="lld.md", state=ArtifactState.NOT_PUBLISHED),),
            },
            (),
            False,
        ),
    ],
)
def test_a_trial_is_an_own_run_when_it_tells_how_it_went(
    changes: dict[str, object], checks: tuple[CheckStatus, ...], own: bool
) -> None:
    assert facts(Made(checks=checks, changes=changes)).own_run is own


def test_free_by_design_is_about_the_basis_and_not_the_amount() -> None:
    assert facts(Made(cost=0.0, basis=CostBasis.NONE)).free_by_design
    assert not facts(Made(cost=0.0)).free_by_design
    assert not facts(Made(cost=None)).free_by_design
