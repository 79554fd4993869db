"""Playing a trial: requests as the target can take them, classes of answers, dialogues of several turns."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from runner.endpoint.ask import AskRequest, Outcome, StreamResult
from runner.endpoint.capabilities import Capabilities, Thinking
from runner.endpoint.request import Protocol
from runner.endpoint.suites import (
    dialogue,
    grounding,
    language,
    reasoning,
    streaming,
    structured,
    tool_use,
)
from runner.endpoint.suites.asking import Manner, request_for, unfit
from runner.endpoint.suites.case import Case, Puzzle, Slot
from runner.endpoint.suites.playing import Played, play
from runner.endpoint.suites.score import CaseScore, Verdict
from runner.endpoint.target import Target
from tests.endpoint.suites.stage import MANNER, Script, call, said, target

FIRST = Slot(1)


def played(case: Case, script: Script, where: Target | None = None, slot: Slot = FIRST) -> Played:
    return asyncio.run(play(case, slot, script, where or target(), MANNER))


def asked(case: Case, where: Target, manner: Manner = MANNER) -> tuple[AskRequest, tuple[str, ...]]:
    asking = request_for(case, case.puzzle(manner.base_seed, FIRST), FIRST, where, manner)
    return asking.request, asking.adjustments


def test_a_right_answer_is_one_request_and_a_pass() -> None:
    trial = played(reasoning.SHORTEST_PATH, Script([said("FINAL: 22")]))
    assert trial.score.verdict is Verdict.PASSED
    assert (len(trial.results), trial.seed, trial.adjustments) == (1, 4066245115, ())


def test_the_nonce_stands_at_the_very_front_and_is_the_same_for_all_targets() -> None:
    one, two = Script([said("")]), Script([said("")])
    played(reasoning.SHORTEST_PATH, one)
    played(reasoning.SHORTEST_PATH, two, target(Capabilities(temperature=False)))
    assert one.requests[0].messages == two.requests[0].messages
    assert one.requests[0].messages[0].content.startswith("[")


@pytest.mark.parametrize("system", [True, False])
@pytest.mark.parametrize("case", [reasoning.SHORTEST_PATH, grounding.HIERARCHY, language.GERMAN])
def test_prompts_differ_at_their_ends_where_caches_of_prompts_are_to_work(case: Case, system: bool) -> None:
    where = target(Capabilities(system=system))
    manner = Manner(salt="run", shared_prefix=True)
    puzzle = case.puzzle(1, Slot(1))
    first, second = (request_for(case, puzzle, Slot(1, n), where, manner).request for n in (1, 2))
    nonces = [case.nonce("run", Slot(1, n)) for n in (1, 2)]
    ends = [request.messages[-1].content.rpartition("\n") for request in (first, second)]
    assert [end[2] for end in ends] == nonces
    assert ends[0][0] == ends[1][0]
    assert (first.system, first.messages[:-1]) == (second.system, second.messages[:-1])
    assert nonces[0] not in f"{first.system}{ends[0][0]}"


def test_every_trial_has_a_nonce_of_its_own() -> None:
    slots = (Slot(1), Slot(2), Slot(1, 2), Slot(1, warm_up=True))
    nonces = {reasoning.SHORTEST_PATH.nonce(salt, slot) for slot in slots for salt in ("run-1", "run-2")}
    assert len(nonces) == 8


@pytest.mark.parametrize(
    ("outcome", "verdict", "value"),
    [
        (Outcome.LENGTH, Verdict.TRUNCATED, 0.0),
        (Outcome.INCOMPLETE, Verdict.TRUNCATED, 0.0),
        (Outcome.REFUSED, Verdict.REFUSED, 0.0),
        (Outcome.HTTP_ERROR, Verdict.ERROR, None),
        (Outcome.RATE_LIMITED, Verdict.ERROR, None),
        (Outcome.TIMEOUT_STALL, Verdict.ERROR, None),
        (Outcome.PARSE_ERROR, Verdict.ERROR, None),
        (Outcome.CANCELLED, Verdict.ERROR, None),
        (Outcome.HARNESS_ERROR, Verdict.ERROR, None),
        (Outcome.SKIPPED_BUDGET, Verdict.SKIPPED, None),
    ],
)
def test_a_class_holds_even_where_the_text_looks_right(
    outcome: Outcome, verdict: Verdict, value: float | None
) -> None:
    trial = played(reasoning.SHORTEST_PATH, Script([said("FINAL: 22", outcome=outcome)]))
    assert (trial.score.verdict, trial.score.value) == (verdict, value)
    assert trial.score.reason
    assert len(trial.results) == 1


def test_the_reason_of_an_error_names_its_code() -> None:
    trial = played(grounding.KNOWN, Script([said(outcome=Outcome.HTTP_ERROR, code="http_503")]))
    assert trial.score.reason == "http_error: http_503"


def test_a_refusal_without_text_is_a_refusal() -> None:
    assert played(grounding.KNOWN, Script([said(refusal="No.")])).score.verdict is Verdict.REFUSED


def test_a_scorer_that_fails_loses_no_timing() -> None:
    def broken(_result: StreamResult) -> CaseScore:
        raise KeyError("x")

    puzzle = Puzzle(grounding.KNOWN.make(1).messages, broken, "1")
    case = replace(grounding.KNOWN, make=lambda _seed: puzzle)
    trial = played(case, Script([said("hello")]))
    assert trial.score.verdict is Verdict.ERROR
    assert "the scorer failed: KeyError" in trial.score.reason
    assert trial.results[0].text == "hello"


def test_a_dialogue_carries_every_answer_on() -> None:
    script = Script([said("Noted."), said("Noted."), said("FINAL: nobody")])
    trial = played(dialogue.GUEST_LIST, script)
    assert [len(request.messages) for request in script.requests] == [1, 3, 5]
    assert script.requests[-1].messages[1].content == "Noted."
    assert trial.score.verdict is Verdict.FAILED


def test_a_dialogue_can_be_won() -> None:
    expected = dialogue.GUEST_LIST.puzzle(1, FIRST).expected
    trial = played(dialogue.GUEST_LIST, Script([said("ok"), said("ok"), said(f"FINAL: {expected}")]))
    assert trial.score.passed
    assert len(trial.results) == 3


def test_a_dialogue_stops_at_the_first_failure() -> None:
    trial = played(dialogue.GUEST_LIST, Script([said("ok"), said(outcome=Outcome.TIMEOUT_TOTAL)]))
    assert (trial.score.verdict, len(trial.results)) == (Verdict.ERROR, 2)


def test_what_a_tool_brings_back_is_used() -> None:
    puzzle = tool_use.ROUND_TRIP.puzzle(1, FIRST)
    article = next(
        word for word in puzzle.messages[0].content.split() if word.startswith("A") and len(word) == 5
    )
    lookup = call("count_stock", json.dumps({"article": article}), "c-9")

    def answer(request: AskRequest) -> StreamResult:
        brought = request.messages[-1]
        assert (brought.role, brought.tool_call_id) == ("tool", "c-9")
        assert set(json.loads(brought.content)) == {"pieces"}
        return said(f"FINAL: {puzzle.expected}")

    trial = played(tool_use.ROUND_TRIP, Script([said(calls=[lookup]), answer]))
    assert trial.score.passed


def test_a_wrong_lookup_brings_an_error_and_endless_calls_end() -> None:
    script = Script([said(calls=[call("count_stock", '{"article": "A0"}')])])
    trial = played(tool_use.ROUND_TRIP, script)
    assert "error" in script.requests[1].messages[-1].content
    assert len(trial.results) == 4
    assert not trial.score.passed


def test_a_tool_that_is_not_needed_is_not_called() -> None:
    assert played(tool_use.NO_CALL, Script([said("FINAL: 84")])).score.passed
    called = played(tool_use.NO_CALL, Script([said("FINAL: 84", calls=[call("track_parcel")])]))
    assert called.score.verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("case", "capabilities", "why"),
    [
        (tool_use.SINGLE, Capabilities(tools=False), "no tools"),
        (tool_use.PARALLEL, Capabilities(parallel_tools=False), "no parallel"),
        (structured.SCHEMA_OBJECT, Capabilities(), "no JSON schema"),
        (reasoning.EFFORT_CASES[1], Capabilities(efforts=("high",)), "effort low"),
    ],
)
def test_a_case_that_means_nothing_is_skipped_with_its_reason(
    case: Case, capabilities: Capabilities, why: str
) -> None:
    script = Script([said("")])
    trial = played(case, script, target(capabilities))
    assert trial.score.verdict is Verdict.SKIPPED
    assert why in trial.score.reason
    assert script.requests == []


def test_an_effort_of_the_run_makes_the_comparison_of_efforts_pointless() -> None:
    where = target(Capabilities(efforts=("none", "low", "high")))
    assert unfit(reasoning.EFFORT_CASES[1], where, "high") != ""
    assert unfit(reasoning.EFFORT_CASES[2], where, "high") == ""


def test_a_prompt_that_cannot_fit_is_skipped() -> None:
    trial = played(streaming.INPUT_CASES[2], Script([said("")]), target(context_tokens=8000))
    assert trial.score.verdict is Verdict.SKIPPED
    assert "8000" in trial.score.reason


def test_a_plain_server_gets_everything() -> None:
    request, notes = asked(tool_use.SINGLE, target())
    assert (request.temperature, request.tool_choice, request.max_output_tokens) == (0.0, "required", 1024)
    assert (request.effort, notes) == (None, ())


def test_what_is_not_accepted_is_left_out_and_recorded() -> None:
    can = Capabilities(temperature=False, tool_choice=("auto",), max_output_key="max_completion_tokens")
    request, notes = asked(tool_use.SINGLE, target(can))
    assert (request.temperature, request.tool_choice) == (None, "auto")
    assert request.max_output_key == "max_completion_tokens"
    assert sorted(note.split(":")[0] for note in notes) == [
        "temperature left out",
        "tool choice auto in place of required",
    ]


def test_thinking_gets_room_on_top_and_never_more_than_the_endpoint_gives() -> None:
    can = Capabilities(thinking=Thinking.ALWAYS, thinking_tokens=10_000)
    assert asked(grounding.KNOWN, target(can))[0].max_output_tokens == 10_512
    assert asked(grounding.KNOWN, target(can, max_output_tokens=4000))[0].max_output_tokens == 4000


@pytest.mark.parametrize(
    ("capabilities", "effort", "body", "thinks", "noted"),
    [
        (Capabilities(efforts=("none", "low")), "none", {}, False, False),
        (Capabilities(efforts=("low", "high"), thinking=Thinking.ALWAYS), "low", {}, True, True),
        (Capabilities(thinking=Thinking.ALWAYS), None, {}, True, True),
        (Capabilities(thinking=Thinking.NEVER), None, {}, False, False),
        (Capabilities(thinking=Thinking.ON_REQUEST, efforts=("low",)), None, {}, False, False),
        (Capabilities(thinking=Thinking.BY_DEFAULT, efforts=("none",)), "none", {}, False, False),
        (
            Capabilities(thinking=Thinking.BY_DEFAULT, effort_bodies={"none": {"thinking": "off"}}),
            None,
            {"thinking": "off"},
            False,
            False,
        ),
    ],
)
def test_no_thinking_is_said_as_the_endpoint_understands_it(
    capabilities: Capabilities, effort: str | None, body: dict[str, object], thinks: bool, noted: bool
) -> None:
    request, notes = asked(reasoning.SHORTEST_PATH, target(capabilities))
    assert request.effort == effort
    assert dict(request.parameters) == body
    assert (request.max_output_tokens or 0) > 4096 if thinks else request.max_output_tokens == 4096
    assert bool(notes) is noted


def test_temperature_only_beside_the_efforts_that_allow_it() -> None:
    can = Capabilities(temperature_at_efforts=("none",), efforts=("none", "high"))
    assert asked(reasoning.SHORTEST_PATH, target(can))[0].temperature == 0.0
    request, notes = asked(reasoning.EFFORT_CASES[2], target(can))
    assert request.temperature is None
    assert "at this effort" in notes[0]


def test_the_run_has_the_last_word_on_effort_length_and_temperature() -> None:
    can = Capabilities(efforts=("none", "high"))
    manner = Manner("salt", effort="high", max_output_tokens=77, temperature=0.7)
    request, _ = asked(reasoning.SHORTEST_PATH, target(can), manner)
    assert (request.effort, request.max_output_tokens, request.temperature) == ("high", 77, 0.7)
    _, notes = asked(reasoning.SHORTEST_PATH, target(Capabilities()), manner)
    assert notes == ("effort high left out: the endpoint does not know it",)


def test_a_schema_is_written_as_each_protocol_wants_it() -> None:
    can = Capabilities(json_schema=True)
    bodies = {
        protocol: dict(asked(structured.SCHEMA_OBJECT, target(can, protocol=protocol))[0].parameters)
        for protocol in Protocol
    }
    assert list(bodies[Protocol.CHAT_COMPLETIONS]) == ["response_format"]
    assert list(bodies[Protocol.RESPONSES]) == ["text"]
    assert list(bodies[Protocol.MESSAGES]) == ["output_config"]


def test_a_schema_does_not_push_the_effort_out() -> None:
    can = Capabilities(json_schema=True, efforts=("low", "high"), thinking=Thinking.ALWAYS)
    case = replace(structured.SCHEMA_OBJECT, effort="high")
    request, _ = asked(case, target(can, protocol=Protocol.MESSAGES))
    config = request.parameters["output_config"]
    assert isinstance(config, dict)
    assert config["effort"] == "high"


def test_a_system_text_that_is_not_accepted_goes_before_the_first_turn() -> None:
    from runner.endpoint.suites.coding.cases import CODING_CASES

    request, notes = asked(CODING_CASES[0], target(Capabilities(system=False)))
    assert request.system is None
    assert request.messages[0].content.startswith("[")
    assert "repository" in request.messages[0].content
    assert "system text" in notes[0]
