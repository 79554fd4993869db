"""Flags become an order; what is wrong with them is said at once and in their own names."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import LatencyLimit
from runner.engine.sweeps.agent_load import TaskSupply
from runner.engine.sweeps.flags import SWEEP_HELP, sweep_form
from runner.engine.sweeps.order import SWEEP_LEVELS, SweepOrder, order_of
from runner.errors import ConfigurationError, UsageError
from runner.serving.talks import DEFAULT_SHAPE


def flags(**given: Any) -> dict[str, Any]:
    return sweep_form(None, **given)


def test_without_flags_the_levels_and_windows_are_those_of_published_sweeps() -> None:
    order = order_of(flags())
    assert order.levels == SWEEP_LEVELS == (1, 2, 5, 7, 10, 15, 20)
    assert (order.window_seconds, order.load, order.shape) == (600, "synthetic", DEFAULT_SHAPE)
    assert order.limit == LatencyLimit()


def test_every_flag_has_its_words() -> None:
    assert {name.replace("-", "_") for name in SWEEP_HELP} == set(flags()) - {"_context"}


def test_flags_are_read_from_text() -> None:
    order = order_of(
        flags(
            levels="5, 1,1 2",
            window_seconds="30",
            turns="4",
            model="m",
            endpoint="http://x/v1",
            ttft_p90_ms="1500",
            instance_share="0.5",
            tensor_parallel_size="4",
            seed="9",
            ignore_eos=True,
        )
    )
    assert order.levels == (1, 2, 5)
    assert (order.window_seconds, order.shape.turns, order.ignore_eos) == (30, 4, True)
    assert (order.settings.model, order.settings.tensor_parallel_size, order.settings.seed) == (("m",), 4, 9)
    assert order.limit == LatencyLimit(ttft_p90_ms=1500)


def test_an_order_read_back_is_the_order_that_was_kept() -> None:
    order = order_of(flags(levels="1,3", load="agents", harness="loop", tpot_mean_ms="20"))
    assert SweepOrder.model_validate_json(order.model_dump_json()) == order


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"levels": "0"}, "--levels"),
        ({"levels": "1,many"}, "--levels"),
        ({"levels": "5000"}, "--levels"),
        ({"window_seconds": "0"}, "--window-seconds"),
        ({"load": "nothing"}, "--load"),
        ({"instance_share": "1.5"}, "--instance-share"),
        ({"output_tokens": "0"}, "--output-tokens"),
        ({"deployment": "A Name"}, "--deployment"),
        ({"load": "agents", "turns": "3"}, "--turns"),
    ],
)
def test_a_flag_that_is_wrong_is_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(UsageError) as caught:
        order_of(flags(**given))
    assert named in caught.value.what


def test_all_faults_are_in_one_report() -> None:
    with pytest.raises(UsageError) as caught:
        order_of(flags(levels="0", window_seconds="x", load="no"))
    assert all(name in caught.value.what for name in ("--levels", "--window-seconds", "--load"))
    assert caught.value.what.count("--levels") == 1


def test_a_list_without_levels_is_named_too() -> None:
    with pytest.raises(UsageError, match="--levels"):
        order_of(flags(levels=","))


def test_a_flag_of_a_run_that_is_wrong_is_told_as_a_run_tells_it() -> None:
    with pytest.raises(ConfigurationError, match="tensor_parallel_size"):
        order_of(flags(tensor_parallel_size="half"))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 999))
def test_no_two_slots_have_one_task_while_others_are_free(tasks: int, slots: int, seed: int) -> None:
    supply = TaskSupply([str(each) for each in range(tasks)], seed, "x")
    hands = [supply.take() for _ in range(slots)]
    assert len(set(hands)) == min(tasks, slots)
    for turn in range(40):
        supply.give_back(hands[turn % slots])
        hands[turn % slots] = supply.take()
        assert len(set(hands)) == min(tasks, slots)


@given(st.integers(1, 10), st.integers(0, 999))
def test_one_slot_goes_through_all_tasks_before_it_has_one_again(tasks: int, seed: int) -> None:
    supply = TaskSupply([str(each) for each in range(tasks)], seed, "x")
    for _ in range(3):
        one_round = []
        for _ in range(tasks):
            one_round.append(supply.take())
            supply.give_back(one_round[-1])
        assert sorted(one_round) == list(range(tasks))


def test_the_same_seed_gives_the_same_order_and_another_level_another_one() -> None:
    def order(seed: int, label: str) -> list[int]:
        supply = TaskSupply([str(each) for each in range(25)], seed, label)
        return [supply.take() for _ in range(25)]

    assert order(1, "5") == order(1, "5")
    assert order(1, "5") != order(1, "7")
