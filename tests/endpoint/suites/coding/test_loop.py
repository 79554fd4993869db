"""The loop: scripted agents that solve, fail, run in circles, and run into every limit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest

from runner.endpoint.ask import AskRequest, Outcome, StreamResult
from runner.endpoint.capabilities import Capabilities
from runner.endpoint.recording import Entry, Keeping, trial_record
from runner.endpoint.statistics.coding import coding
from runner.endpoint.suites.case import Slot
from runner.endpoint.suites.coding.cases import CODING_CASES
from runner.endpoint.suites.coding.loop import AgentMeans, TaskLimits
from runner.endpoint.suites.coding.tasks import shelf
from runner.endpoint.suites.coding.trace import AgentTrace, StopReason, total
from runner.endpoint.suites.playing import Played, play
from runner.endpoint.suites.score import Verdict
from runner.records.bench_manifest import BenchPrice
from runner.records.bench_trial import BenchScore
from tests.bench_examples import NOON
from tests.endpoint.suites.stage import MANNER, Script, call, said, target

CASE = CODING_CASES[0]
ROWS = shelf.ROWS.replace("len(books) - width + 1", "len(books)").replace(
    "len(books) // _checked(width)", "-(-len(books) // _checked(width))"
)
SOLVE = said(calls=[call("write_file", json.dumps({"path": "shelf/rows.py", "content": ROWS}))])
TEST = said(calls=[call("run_tests")])
LIST = said(calls=[call("list_files")])
DONE = said("All done.", usage=(20, 7))


def played(*answers: StreamResult | Callable[[AskRequest], StreamResult], **means: object) -> Played:
    limits = means.pop("limits", TaskLimits())
    assert isinstance(limits, TaskLimits)
    script = Script(list(answers))
    trial = asyncio.run(
        play(CASE, Slot(1), script, target(), MANNER, AgentMeans(limits=limits, **means))  # type: ignore[arg-type]
    )
    assert len(script.requests) == len(trial.results)
    return trial


def trace_of(trial: Played) -> AgentTrace:
    assert trial.agent is not None
    return trial.agent


def test_a_task_is_solved_and_verified() -> None:
    trial = played(LIST, SOLVE, TEST, DONE)
    trace = trace_of(trial)
    assert trial.score.verdict is Verdict.PASSED
    assert trial.score.metrics["checks_passed"] == trial.score.metrics["checks_total"] == 9.0
    assert (trace.stop_reason, trace.turn_count, trace.tool_call_count) == (StopReason.NO_TOOL_CALLS, 4, 3)
    assert trace.self_verified
    assert trace.test_runs == 1
    assert {call.name for call in trace.invocations} == {"list_files", "run_tests", "write_file"}


def test_one_tool_turn_and_one_text_turn_add_up() -> None:
    trace = trace_of(played(LIST, DONE))
    assert (trace.turn_count, trace.tool_call_count) == (2, 1)
    assert (trace.prompt_tokens, trace.output_tokens) == (30, 12)
    assert trace.stop_reason is StopReason.NO_TOOL_CALLS


def test_a_task_that_nobody_worked_on_fails() -> None:
    trial = played(DONE)
    assert trial.score.verdict is Verdict.FAILED
    assert trial.score.metrics["checks_passed"] < 9
    assert trial.score.reason.startswith("no_tool_calls; ")
    assert not trace_of(trial).self_verified


def test_a_task_that_is_solved_but_not_tested_is_solved_and_not_verified() -> None:
    trial = played(SOLVE, DONE)
    assert trial.score.passed
    assert not trace_of(trial).self_verified


def test_a_change_after_the_last_test_run_spoils_the_verification() -> None:
    note = said(calls=[call("write_file", json.dumps({"path": "NOTES.md", "content": "x"}))])
    assert not trace_of(played(SOLVE, TEST, note, DONE)).self_verified


def test_the_same_call_for_ever_is_no_progress_and_ends() -> None:
    trial = played(LIST, limits=TaskLimits(max_turns=3))
    trace = trace_of(trial)
    assert (trace.turn_count, trace.no_progress_call_count) == (3, 2)
    assert trace.stop_reason is StopReason.MAX_TURNS
    assert trial.score.verdict is Verdict.FAILED


def test_testing_again_after_an_edit_is_good_practice() -> None:
    trace = trace_of(played(TEST, SOLVE, TEST, DONE))
    assert trace.no_progress_call_count == 0
    assert trace.test_runs == 2


def test_an_unknown_tool_is_invalid_and_a_failed_request_ends_without_a_grade() -> None:
    trial = played(said(calls=[call("fly")]), said(outcome=Outcome.HTTP_ERROR, code="http_500"))
    trace = trace_of(trial)
    assert trace.invalid_call_count == 1
    assert trace.invocations[0].detail.startswith("there is no tool 'fly'")
    assert trace.stop_reason is StopReason.ERROR
    assert (trial.score.verdict, trial.score.value) == (Verdict.ERROR, None)
    assert trial.score.reason == "http_error: http_500"


@pytest.mark.parametrize(
    ("outcome", "reason", "verdict"),
    [
        (Outcome.LENGTH, StopReason.LENGTH, Verdict.TRUNCATED),
        (Outcome.REFUSED, StopReason.REFUSED, Verdict.REFUSED),
        (Outcome.INCOMPLETE, StopReason.ERROR, Verdict.ERROR),
        (Outcome.TIMEOUT_STALL, StopReason.ERROR, Verdict.ERROR),
    ],
)
def test_each_ending_has_its_reason(outcome: Outcome, reason: StopReason, verdict: Verdict) -> None:
    trial = played(LIST, said(outcome=outcome))
    assert (trace_of(trial).stop_reason, trial.score.verdict) == (reason, verdict)


def test_a_tree_that_is_right_counts_even_where_the_last_answer_was_cut() -> None:
    assert played(SOLVE, said(outcome=Outcome.LENGTH)).score.passed


def test_time_tokens_and_money_end_a_task_before_the_next_request() -> None:
    ticks = iter(range(0, 1000, 40))
    late = played(LIST, limits=TaskLimits(wall_seconds=100), clock=lambda: float(next(ticks)))
    assert trace_of(late).stop_reason is StopReason.TIME_LIMIT
    many = said(calls=[call("list_files", "", f"c{number}") for number in range(9)])
    ticks = iter(range(0, 1000, 10))
    flood = played(many, DONE, limits=TaskLimits(wall_seconds=100), clock=lambda: float(next(ticks)))
    assert (trace_of(flood).stop_reason, trace_of(flood).turn_count) == (StopReason.TIME_LIMIT, 1)
    assert 0 < trace_of(flood).tool_call_count < 9
    heavy = played(LIST, limits=TaskLimits(total_tokens=40))
    assert (trace_of(heavy).stop_reason, trace_of(heavy).turn_count) == (StopReason.TOKEN_LIMIT, 3)
    dear = played(LIST, limits=TaskLimits(cost_usd=0.5), cost_of=lambda _result: 0.3)
    assert (trace_of(dear).stop_reason, trace_of(dear).cost_usd) == (StopReason.COST_LIMIT, 0.6)


@pytest.mark.parametrize(
    ("limits", "reason", "said"),
    [
        (TaskLimits(left_seconds=100), StopReason.TIME_BUDGET, "cut by the budget of time"),
        (TaskLimits(left_usd=0.5), StopReason.MONEY_BUDGET, "cut by the budget of money"),
    ],
)
def test_a_task_that_its_target_has_no_budget_left_for_is_cut_and_unscored_not_failed(
    limits: TaskLimits, reason: StopReason, said: str
) -> None:
    ticks = iter(range(0, 1000, 40))
    cut = played(LIST, limits=limits, clock=lambda: float(next(ticks)), cost_of=lambda _result: 0.3)
    assert trace_of(cut).stop_reason is reason
    assert (cut.score.verdict, cut.score.value, cut.score.reason) == (Verdict.SKIPPED, None, said)
    price = BenchPrice(priced_on=date(2026, 11, 30), input=1.0, output=1.0)
    entry = Entry("20261130t120000-coding-0a1b2c", "key", "one", NOON, NOON + timedelta(seconds=80), price)
    record = trial_record(cut, entry, Keeping())
    assert (record.skipped, record.outcome, len(record.requests)) == (said, None, trace_of(cut).turn_count)
    assert record.cost_usd is not None
    solved = BenchScore(verdict="passed", value=1.0)
    whole = record.model_copy(update={"skipped": None, "outcome": "ok", "score": solved})
    figures = coding("one", [record, whole])[0]
    assert (figures.attempted, figures.skipped, figures.solved.rate) == (1, {said: 1}, 1.0)


def test_the_own_limit_of_a_task_counts_where_it_is_the_smaller_one() -> None:
    ticks = iter(range(0, 1000, 40))
    limits = TaskLimits(wall_seconds=100, left_seconds=200)
    late = played(LIST, limits=limits, clock=lambda: float(next(ticks)))
    assert (trace_of(late).stop_reason, late.score.verdict) == (StopReason.TIME_LIMIT, Verdict.FAILED)


def test_what_is_not_known_is_null_and_limits_that_cannot_be_watched_are_named() -> None:
    blind = said(calls=[call("list_files")], usage=None)
    trace = trace_of(played(blind, DONE, limits=TaskLimits(cost_usd=1.0)))
    assert (trace.prompt_tokens, trace.output_tokens, trace.cost_usd) == (None, None, None)
    assert trace.limits_not_kept == ("tokens", "cost")


def test_a_cost_that_is_no_number_is_unknown() -> None:
    assert trace_of(played(DONE, cost_of=lambda _result: float("nan"))).cost_usd is None


def test_every_call_of_one_answer_is_done_and_answered_in_order() -> None:
    calls = [
        call("read_file", '{"path": "README.md"}', "a"),
        call("list_files", "", "b"),
        call("fly", "", "c"),
    ]

    def finish(request: AskRequest) -> StreamResult:
        answers = request.messages[-3:]
        assert [each.tool_call_id for each in answers] == ["a", "b", "c"]
        assert answers[0].content.startswith("# shelf")
        assert request.messages[-4].tool_calls == tuple(calls)
        return DONE

    assert trace_of(played(said("Looking.", calls=calls), finish)).tool_call_count == 3


def test_a_flood_of_calls_is_not_done() -> None:
    flood = said(calls=[call("list_files", "", f"c{number}") for number in range(40)])
    trace = trace_of(played(flood, DONE))
    assert trace.tool_call_count == 40
    assert trace.invalid_call_count == 8


def test_reasoning_that_is_wanted_back_goes_back() -> None:
    thought = LIST.model_copy(update={"carried": ({"type": "thinking", "signature": "s"},)})

    def finish(request: AskRequest) -> StreamResult:
        assert request.messages[-2].carried == ({"type": "thinking", "signature": "s"},)
        return DONE

    played(thought, finish)


def test_the_first_request_carries_tools_and_a_nonce() -> None:
    script = Script([DONE])
    asyncio.run(play(CASE, Slot(2), script, target(), MANNER))
    request = script.requests[0]
    assert request.system is not None
    assert request.system.startswith(CASE.nonce(MANNER.salt, Slot(2)))
    assert len(request.tools) == 6


def test_a_target_without_tools_is_not_asked() -> None:
    script = Script([DONE])
    trial = asyncio.run(play(CASE, Slot(1), script, target(Capabilities(tools=False)), MANNER))
    assert trial.score.verdict is Verdict.SKIPPED
    assert script.requests == []


def test_a_trace_can_be_kept_without_anything_a_model_wrote() -> None:
    trace = trace_of(played(said(calls=[call("my secret tool", '{"a": "private words"}')]), DONE))
    bare = repr(trace.without_texts())
    assert "private" not in bare
    assert "secret" not in bare
    assert trace.without_texts().invalid_call_count == 1


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    assert total([]) == 0
    assert total([1, 2.5]) == 3.5
    assert total([1, None]) is None


def test_time_in_our_own_tools_is_told_apart() -> None:
    ticks = iter(range(100))
    trace = trace_of(played(LIST, DONE, clock=lambda: float(next(ticks))))
    assert 0 < trace.tool_seconds < trace.wall_seconds


def test_another_task_has_its_own_limit_of_turns() -> None:
    assert CASE.coding is not None
    short = replace(CASE, coding=replace(CASE.coding, max_turns=2))
    trial = asyncio.run(play(short, Slot(1), Script([LIST]), target(), MANNER))
    assert trace_of(trial).turn_count == 2
