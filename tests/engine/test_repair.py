"""Repair goes the cheap way first, spends nothing on errors that come back, and loses no spent token."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.failure import Failure, failure_of
from runner.engine.places import Places
from runner.engine.repair import DESIGN, Allowance, next_repair
from runner.records import CostBasis, InvocationKind, Outcome, TrialRecord
from runner.store import ResultsStore
from tests.engine.standin import run_script

FIRST, TOP_UP, RETRY = InvocationKind.FIRST, InvocationKind.TOP_UP, InvocationKind.RETRY
PLENTY = Allowance(5, 5)


def only_trial(places: Places) -> TrialRecord:
    """The one trial in the public store."""
    [stored] = ResultsStore(places.results).trials()
    return stored.record


def kinds(places: Places) -> list[InvocationKind]:
    return [each.kind for each in only_trial(places).invocations]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP 400 from the endpoint: maximum context length is 8192 tokens", Failure.CONTEXT_LENGTH),
        ("prompt is too long: 210000 tokens > 200000 maximum", Failure.CONTEXT_LENGTH),
        ("API Error: 401 {'type': 'authentication_error'}", Failure.AUTHORIZATION),
        ("status 403 forbidden", Failure.AUTHORIZATION),
        ("Incorrect API key provided", Failure.AUTHORIZATION),
        ("You exceeded your current quota, insufficient_quota", Failure.QUOTA),
        ("HTTP 400 from the endpoint", Failure.INVALID_REQUEST),
        ("error 404: model not found", Failure.INVALID_REQUEST),
        ("invalid_request_error: tools.0 is wrong", Failure.INVALID_REQUEST),
        ("HTTP 500 from the endpoint", Failure.OTHER),
        ("429 too many requests", Failure.OTHER),
        ("overloaded_error", Failure.OTHER),
        ("connection refused", Failure.OTHER),
        ("the answer broke off after 400 bytes", Failure.OTHER),
        ("", Failure.OTHER),
    ],
)
def test_errors_that_come_back_are_told_from_those_that_pass(text: str, expected: Failure) -> None:
    assert failure_of(None, text) is expected
    assert expected.fatal == (expected is not Failure.OTHER)


NAMES = ("github-issue.md", "lld.md", "review.md", "patch.diff", "implementation.md")
ARTIFACTS = st.sets(st.sampled_from(NAMES))


@given(st.sampled_from(Outcome), ARTIFACTS, st.sampled_from(Failure), st.integers(0, 2), st.integers(0, 2))
def test_a_design_is_never_made_anew(
    outcome: Outcome, present: set[str], failure: Failure, top_ups: int, retries: int
) -> None:
    kind = next_repair(outcome, present, NAMES, failure, Allowance(top_ups, retries))
    if present == set(NAMES):
        assert kind is None
    if DESIGN & present:
        assert kind is not RETRY
    else:
        assert kind is not TOP_UP
    if outcome in {Outcome.COMPLETED, Outcome.TIMEOUT, Outcome.BUDGET, Outcome.CANCELLED} or failure.fatal:
        assert kind is None
    assert kind is not TOP_UP or top_ups
    assert kind is not RETRY or retries


def test_each_repair_uses_up_its_own_allowance() -> None:
    assert PLENTY.less([FIRST]) == PLENTY
    assert PLENTY.less([FIRST, TOP_UP]) == Allowance(4, 5)
    assert PLENTY.less([FIRST, RETRY]) == Allowance(5, 4)
    assert PLENTY.less([FIRST, RETRY, TOP_UP, RETRY, TOP_UP]) == Allowance(3, 3)


def test_a_start_in_the_place_of_a_killed_one_is_no_repair() -> None:
    assert PLENTY.less([]) == PLENTY
    assert PLENTY.less([RETRY]) == PLENTY
    assert PLENTY.less([RETRY, TOP_UP]) == Allowance(4, 5)


def test_missing_notes_are_topped_up_and_the_patch_is_kept(places: Places) -> None:
    text = "say(tokens=100, cost=0.5)\nnote() if kind == 'top-up' else change()\n"
    assert run_script(places, text, max_retries=3)[0] == 0
    record = only_trial(places)
    assert (record.outcome, kinds(places)) == (Outcome.COMPLETED, [FIRST, TOP_UP])
    assert record.usage is not None
    assert record.usage.input_tokens == 200
    assert [cost.amount_usd for cost in record.costs] == [1.0]


def test_a_passing_error_that_left_nothing_is_tried_again_and_both_are_counted(places: Places) -> None:
    text = "say(tokens=100)\nif number == 1: say(error='HTTP 529 overloaded')\nelse: change(); note()\n"
    run_script(places, text)
    record = only_trial(places)
    assert (record.outcome, kinds(places)) == (Outcome.COMPLETED, [FIRST, RETRY])
    assert record.usage is not None
    assert record.usage.input_tokens == 200


def test_an_error_after_the_patch_is_topped_up_and_not_paid_for_again(places: Places) -> None:
    text = "if kind == 'top-up': note()\nelse: change(); say(error='HTTP 500')\n"
    run_script(places, text)
    assert kinds(places) == [FIRST, TOP_UP]


@pytest.mark.parametrize("error", ["HTTP 401", "context length exceeded", "HTTP 400 bad request"])
def test_an_error_that_comes_back_is_not_tried_again(places: Places, error: str) -> None:
    run_script(places, f"say(error={error!r})\n", max_retries=3, max_topups=3)
    assert (only_trial(places).outcome, kinds(places)) == (Outcome.MODEL_ERROR, [FIRST])


def test_what_a_new_start_replaces_is_kept_outside_the_store(places: Places) -> None:
    text = "if number == 1: note(text='first try')\nelse: change(); note(text='second try')\n"
    run_script(places, text)
    assert kinds(places) == [FIRST, RETRY]
    [kept] = (places.artifacts / "replaced").rglob("implementation.md")
    assert kept.read_text() == "first try"
    [stored] = ResultsStore(places.results).trials()
    assert stored.artifact("implementation.md") == b"second try"
    [lacking] = [warning for warning in stored.record.warnings if warning.code == "headings-missing"]
    assert lacking.text == "implementation.md: What changed, Files, Verification, Left open"


def test_a_spent_trial_budget_ends_the_repairs(places: Places) -> None:
    text = "say(tokens=600)\nchange(f'x = {number}')\n"
    run_script(places, text, max_topups=9, max_trial_tokens=1500)
    assert kinds(places) == [FIRST, TOP_UP, TOP_UP]
    shutil.rmtree(places.results)
    run_script(places, "say(cost=0.4)\nchange()\n", max_topups=9, max_cost_usd=1)
    assert kinds(places) == [FIRST, TOP_UP, TOP_UP]


def test_time_left_for_a_trial_shortens_its_next_invocation(places: Places) -> None:
    text = "change()\ntime.sleep(0 if kind == 'whole' else 60)\n"
    run_script(places, text, max_trial_seconds=6)
    record = only_trial(places)
    assert (record.outcome, kinds(places)) == (Outcome.TIMEOUT, [FIRST, TOP_UP])
    assert (record.duration_seconds or 0) < 50


def test_an_agent_that_repeats_itself_is_stopped(places: Places) -> None:
    text = """
for turn in range(10_000):
    say(id=f"call-{turn}", name="shell", input={"command": "ls"}, tokens=turn)
    time.sleep(0.01)
"""
    code, _ = run_script(places, text, max_repeats=10, timeout_seconds=50)
    record = only_trial(places)
    assert record.outcome is Outcome.BUDGET
    assert "no progress: 10 times" in record.outcome_reason
    assert record.invocations[0].stop_reason == "no-progress"
    assert record.usage is not None
    assert code == 0


def test_a_run_whose_endpoint_saw_no_request_is_not_taken_for_a_measurement(places: Places) -> None:
    code, _ = run_script(places, "change(); note()\n", asks=False, max_retries=0)
    record = only_trial(places)
    assert (code, record.outcome) == (3, Outcome.INFRASTRUCTURE)
    assert "saw no request (completed" in record.outcome_reason
    assert [each.requests_seen for each in record.invocations] == [0]


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("change(); note()\n", "completed"),
        ("say(stop='error', error='no connection')\n", "model_error"),
        ("time.sleep(60)\n", "timeout"),
    ],
)
def test_a_server_that_is_gone_is_not_the_models_failure(script: str, outcome: str, places: Places) -> None:
    # A port that was given back could be another server's by now.
    gone, seconds = "http://127.0.0.1:9/v1", 6 if outcome == "timeout" else 55
    code, _ = run_script(places, script, endpoint=gone, max_retries=0, max_topups=0, timeout_seconds=seconds)
    record = only_trial(places)
    assert (code, record.outcome) == (3, Outcome.INFRASTRUCTURE), record.outcome_reason
    assert f"it answered none of 1 requests (ConnectError) ({outcome}: " in record.outcome_reason


def test_an_agent_that_hangs_and_asks_nothing_is_no_measured_timeout(places: Places) -> None:
    code, _ = run_script(places, "time.sleep(60)\n", asks=False, max_retries=0, timeout_seconds=1)
    record = only_trial(places)
    assert (code, record.outcome) == (3, Outcome.INFRASTRUCTURE)
    assert "saw no request (timeout" in record.outcome_reason


def test_requests_that_the_replay_server_saw_are_recorded(whole: tuple[Places, str]) -> None:
    places, _ = whole
    for stored in ResultsStore(places.roots().demonstration).trials():
        for each in stored.record.invocations:
            assert each.requests_seen == (each.turns or 0) + (each.retries or 0)


def test_a_trial_that_went_well_leaves_nothing_but_its_records(places: Places) -> None:
    run_script(places, "change(); note()\n")
    assert not (places.artifacts / "replaced").exists()
    assert not any((places.artifacts / "work").rglob("*"))


def test_a_link_in_place_of_the_artifacts_folder_is_not_followed(places: Places) -> None:
    secret = places.root / "elsewhere"
    secret.mkdir()
    (secret / "implementation.md").write_text("not the agent's to show\n", encoding="utf-8")
    text = f"change()\nartifacts.rmdir(); artifacts.symlink_to({str(secret)!r})\n"
    run_script(places, text, max_topups=0, isolation="none")
    [stored] = ResultsStore(places.results).trials()
    assert (stored.record.outcome, stored.record.outcome_reason[:8]) == (Outcome.INCOMPLETE, "missing:")
    assert stored.artifact("implementation.md") is None


def test_prices_given_for_a_run_make_its_cost_known(places: Places) -> None:
    run_script(places, "say(tokens=500)\nchange(); note()\n", price_input=2.0, price_output=10.0)
    [cost] = only_trial(places).costs
    assert (cost.basis, cost.amount_usd) == (CostBasis.PRICE_TABLE, 0.001)
