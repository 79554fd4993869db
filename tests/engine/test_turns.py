"""Models that take turns on a server: one block each, never two open, and a failing one ends no night."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.blocks import blocks_of, in_blocks
from runner.engine.places import Places
from runner.engine.stop import Interrupted, Stop
from runner.records import Outcome, PlannedTrial, PlanRecord
from runner.store import ResultsStore, verify
from tests import examples
from tests.engine.runs import run
from tests.engine.standin import ENVIRONMENT, HARNESS, script
from tests.engine.turns import PROVIDER, events, plan_faults

FLAGS: dict[str, object] = {"harness": HARNESS, "provider": PROVIDER, "count": 2, "isolation": "none"}
WORKS = "say(tokens=10)\nchange(); note()\n"
ONCE = """
folder = pathlib.Path(__file__).parent
if (folder / "died").exists():
    say(tokens=10)
    change(); note()
else:
    (folder / "died").touch()
    (folder / "dead").touch()
    say(tokens=7, error="connection refused")
"""
ALWAYS = """
(pathlib.Path(__file__).parent / "dead").touch()
say(tokens=7, error="connection refused")
"""


def planned(places: Places) -> PlanRecord:
    [plan] = ResultsStore(places.results).plans()
    return plan


def outcomes(places: Places) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for stored in ResultsStore(places.results).trials():
        found.setdefault(stored.record.identity.cell.model.raw_id, []).append(stored.record.outcome.value)
    return found


def models_of(plan: PlanRecord) -> list[str]:
    return [each.identity.cell.model.raw_id for each in plan.trials]


def assert_never_two_open(places: Places) -> None:
    exclusive = [(event, model) for event, model in events(places) if not model.startswith("free")]
    is_open: set[str] = set()
    for event, model in exclusive:
        if event == "open":
            is_open.add(model)
        elif event == "closed":
            is_open.remove(model)
        else:
            assert not is_open, f"{model} starts while {is_open} is open"
        assert len(is_open) <= 1
    assert not is_open


def test_each_model_has_the_server_once_and_alone(places: Places) -> None:
    script(places, WORKS)
    code, output = run(places, {**FLAGS, "model": "a,free,b,c", "trials": 2}, environment=ENVIRONMENT)
    assert code == 0, output
    assert_never_two_open(places)
    opened = [model for event, model in events(places) if event == "open"]
    assert sorted(opened) == ["a", "b", "c", "free"]
    assert {model: len(each) for model, each in outcomes(places).items()} == dict.fromkeys(opened, 4)
    order = list(dict.fromkeys(models_of(planned(places))))
    assert [model for model in order if model != "free"] == [model for model in opened if model != "free"]
    assert models_of(planned(places)) == [model for model in order for _ in range(4)]
    assert "starting a server for b" in output
    turns = ", then ".join(f"{model}_turns" for model in order if model != "free")
    assert f"models take turns on a server, one block of trials each: {turns}" in output
    assert verify(places.results) == []


def test_a_model_that_cannot_be_served_is_left_and_named_and_the_others_run(places: Places) -> None:
    plan_faults(places, refuses_b="out of memory on every device")
    script(places, WORKS)
    code, output = run(places, {**FLAGS, "model": "a,b,c"}, environment=ENVIRONMENT)
    assert code == 3
    assert "4 of 6 trials finished" in output
    assert "not served: b_turns: out of memory on every device" in output
    assert outcomes(places) == {"a": ["completed"] * 2, "c": ["completed"] * 2}
    assert [event for event, model in events(places) if model == "b"] == ["starts", "starts"]
    assert_never_two_open(places)
    plan_faults(places)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0
    assert outcomes(places)["b"] == ["completed"] * 2
    assert [event for event, model in events(places) if model == "a"] == ["starts", "open", "closed"]


def test_a_window_that_is_too_small_is_found_before_the_first_task(places: Places) -> None:
    plan_faults(places, window_b="32000")
    script(places, WORKS)
    code, output = run(places, {**FLAGS, "model": "a,b"}, environment=ENVIRONMENT)
    assert code == 3
    assert "not served: b_turns: b has a context window of 32000 tokens" in output
    assert outcomes(places) == {"a": ["completed"] * 2}
    assert_never_two_open(places)


def test_a_server_that_dies_is_started_once_more_and_its_trial_is_not_held_against_the_model(
    places: Places,
) -> None:
    plan_faults(places, dies_a="it does not answer any more")
    script(places, ONCE)
    flags = {**FLAGS, "model": "a", "trials": 2, "concurrency": 1, "budget_tokens": 10**9, "max_retries": 0}
    code, output = run(places, flags, environment=ENVIRONMENT)
    assert code == 3
    assert sorted(outcomes(places)["a"]) == ["completed"] * 3 + ["infrastructure"]
    [victim] = [
        stored.record
        for stored in ResultsStore(places.results).trials()
        if stored.record.outcome is Outcome.INFRASTRUCTURE
    ]
    assert (
        "the model's server failed: it does not answer any more (seen as model_error" in victim.outcome_reason
    )
    assert victim.usage is not None
    assert [event for event, _ in events(places)] == ["starts", "open", "closed"] * 2
    assert "a_turns cannot be served: it does not answer any more" in output


def test_a_server_that_dies_again_and_again_costs_two_trials_and_not_the_night(places: Places) -> None:
    plan_faults(places, dies_a="it is gone")
    script(places, ALWAYS)
    flags = {**FLAGS, "model": "a,b", "trials": 3, "concurrency": 1, "budget_tokens": 10**9, "max_retries": 0}
    code, output = run(places, flags, environment=ENVIRONMENT)
    assert code == 3
    assert outcomes(places) == {"a": ["infrastructure"] * 2, "b": ["model_error"] * 6}
    assert "not served: a_turns: it is gone" in output
    assert_never_two_open(places)


def test_trials_in_flight_on_a_server_that_died_run_again(places: Places) -> None:
    plan_faults(places, dies_a="it is gone")
    waits = ONCE.replace("else:\n", "elif number > 1:\n    change(); note()\nelse:\n", 1)
    script(places, waits.replace("say(tokens=7", "time.sleep(0.2)\n    say(tokens=7"))
    code, _ = run(places, {**FLAGS, "model": "a", "trials": 2, "concurrency": 4}, environment=ENVIRONMENT)
    found = outcomes(places)["a"]
    assert len(found) == 4, "nothing is left"
    assert "model_error" not in found
    assert code == (3 if "infrastructure" in found else 0)


@pytest.mark.parametrize("shared", [True, False])
def test_a_model_whose_test_fails_before_a_trial_does_not_end_the_night(places: Places, shared: bool) -> None:
    a, b = ("free-a", "free-b") if shared else ("a", "b")
    plan_faults(places, **{f"fails_{a}": "tool calls come as plain text"})
    script(places, WORKS)
    code, output = run(places, {**FLAGS, "model": f"{a},{b}"}, environment=ENVIRONMENT)
    assert code == 3
    assert outcomes(places) == {b: ["completed"] * 2}
    assert output.count(f"not served: {a}_turns: tool calls come as plain text") == 1
    plan_faults(places)
    assert run(places, resume=True, environment=ENVIRONMENT)[0] == 0


def test_a_shared_server_that_dies_costs_what_was_in_flight_and_the_others_go_on(places: Places) -> None:
    plan_faults(places, dies_free_a="it is gone")
    script(places, ALWAYS)
    flags = {
        "model": "free-a,free-b",
        "trials": 3,
        "concurrency": 1,
        "budget_tokens": 10**9,
        "max_retries": 0,
    }
    code, output = run(places, {**FLAGS, **flags}, environment=ENVIRONMENT)
    assert code == 3
    assert outcomes(places) == {"free-a": ["infrastructure"], "free-b": ["model_error"] * 6}
    assert "not served: free-a_turns: it is gone" in output


def test_a_server_that_cannot_be_stopped_in_order_is_noted(places: Places) -> None:
    plan_faults(places, clings_a="it does not go away")
    script(places, WORKS)
    code, output = run(places, {**FLAGS, "model": "a,b"}, environment=ENVIRONMENT)
    assert code == 0
    assert "a server could not be stopped in order: it does not go away" in output


def test_no_server_is_started_for_a_budget_that_is_used_up(places: Places) -> None:
    script(places, WORKS)
    flags = {**FLAGS, "model": "a,b,c", "budget_tokens": 15, "concurrency": 1}
    code, output = run(places, flags, environment=ENVIRONMENT)
    assert code == 3
    assert "the budget of the run is used up" in output
    assert len([event for event, _ in events(places) if event == "starts"]) == 1


def test_a_user_who_stops_while_a_server_starts_does_not_wait_for_it() -> None:
    stop = Stop()

    def press_while_waiting() -> None:
        with stop.interrupting():
            stop.press()
            stop.interrupt()

    with pytest.raises(Interrupted):
        press_while_waiting()
    stop.interrupt()
    with pytest.raises(Interrupted):
        stop.interrupting().__enter__()
    assert stop.state() == "no more"
    stop.press()
    assert stop.state() == "now"


def trial_of(model: str, number: int) -> PlannedTrial:
    base = examples.plan().trials[0]
    cell = base.identity.cell
    named = cell.model_copy(update={"model": cell.model.model_copy(update={"raw_id": model, "slug": model})})
    identity = base.identity.model_copy(update={"cell": named, "trial": number})
    return base.model_copy(update={"identity": identity})


@given(st.lists(st.sampled_from(["a", "b", "c", "free"]), max_size=30), st.integers(0, 99))
def test_blocks_keep_the_order_inside_and_are_drawn_by_the_seed(models: list[str], seed: int) -> None:
    trials = [trial_of(model, number) for number, model in enumerate(models, 1)]
    keys: dict[tuple[str, ...], str | None] = {
        each.identity.cell.key: None if model == "free" else model
        for model, each in zip(models, trials, strict=True)
    }
    ordered = in_blocks(trials, keys, random.Random(seed))
    assert ordered == in_blocks(trials, keys, random.Random(seed))
    assert sorted(map(repr, ordered)) == sorted(map(repr, trials))
    for model in set(models):
        kept = [each for each in ordered if each.identity.cell.model.raw_id == model]
        assert kept == [each for each in trials if each.identity.cell.model.raw_id == model]
    plan = examples.plan().model_copy(update={"trials": ordered})
    blocks = blocks_of(plan, keys)
    assert [position for block in blocks for position in block.positions] == list(range(len(ordered)))
    assert len({block.key for block in blocks}) == len(blocks)


def test_without_models_that_take_turns_the_order_is_that_of_before() -> None:
    trials = [trial_of(model, 1) for model in ("a", "b", "a", "c")]
    generator = random.Random(1)
    assert in_blocks(trials, {}, generator) == tuple(trials)
    assert generator.random() == random.Random(1).random()
