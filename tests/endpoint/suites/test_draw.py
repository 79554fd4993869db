"""Seeds and instances: the published vectors, and what must hold for all of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.suites import grounding, reasoning, structured
from runner.endpoint.suites.case import Slot
from runner.endpoint.suites.catalogue import SUITES
from runner.endpoint.suites.draw import Draw, seed_of

SEEDS = {
    "seeded_shortest_path": (4066245115, 921891728, 3843009170),
    "seeded_structured_extraction": (2244837578, 2491450781, 2002510079),
    "seeded_grounded_known": (928552059, 4073473070, 2524816944),
    "seeded_grounded_unknown": (3726780878, 2498683191, 3611909933),
    "seeded_long_context_needles": (4277231200, 3959828305, 2336064475),
    "reasoning_effort_sweep": (1470816100, 694711275, 1806924145),
    "fixed_output_stream": (1162269223, 2997947510, 3020832192),
}


@pytest.mark.parametrize("key", SEEDS)
def test_seeds_are_those_of_the_javascript_generator(key: str) -> None:
    first, second, warm_up = SEEDS[key]
    assert seed_of(1, key, 1) == first
    assert seed_of(1, key, 2) == second
    assert seed_of(1, key, 1, warm_up=True) == warm_up
    keyed = [case for cases in SUITES.values() for case in cases if key in (case.identifier, case.seed_group)]
    assert keyed
    for case in keyed:
        slots = (Slot(1), Slot(2), Slot(1, warm_up=True))
        assert tuple(case.seed(1, slot) for slot in slots) == SEEDS[key]


@pytest.mark.parametrize(
    ("key", "run", "edges", "answer"),
    [
        ("seeded_shortest_path", 1, 17, 22),
        ("seeded_shortest_path", 2, 17, 19),
        ("reasoning_effort_sweep", 1, 12, 35),
        ("reasoning_effort_sweep", 2, 13, 16),
    ],
)
def test_graphs_are_those_of_the_vectors(key: str, run: int, edges: int, answer: int) -> None:
    graph = reasoning.drawn_graph(seed_of(1, key, run))
    assert len(graph) == edges
    assert reasoning.distance(graph, 0, 7) == answer


def test_the_cases_themselves_get_the_instances_of_the_vectors() -> None:
    assert reasoning.SHORTEST_PATH.puzzle(1, Slot(1)).expected == "22"
    assert reasoning.PARAPHRASE.puzzle(1, Slot(2)).expected == "19"
    assert reasoning.DISTRACTOR.puzzle(1, Slot(2)).expected == "19"
    assert [case.puzzle(1, Slot(1)).expected for case in reasoning.EFFORT_CASES] == ["35"] * 3


@pytest.mark.parametrize(("run", "numbers", "total"), [(1, [1, 2, 5, 7, 9], 24), (2, [5, 6, 10], 21)])
def test_extractions_are_those_of_the_vectors(run: int, numbers: list[int], total: int) -> None:
    puzzle = structured.EXTRACTION.puzzle(1, Slot(run))
    selected = [f"R{number:02d}" for number in numbers]
    assert puzzle.facts["selected"] == selected
    assert json.loads(puzzle.expected) == {"selected": selected, "total": total}


@pytest.mark.parametrize(("run", "key", "value"), [(1, "K18", "909"), (2, "K16", "618")])
def test_lookups_are_those_of_the_vectors(run: int, key: str, value: str) -> None:
    puzzle = grounding.KNOWN.puzzle(1, Slot(run))
    assert (puzzle.facts["key"], puzzle.expected) == (key, value)


def test_needles_are_those_of_the_vectors() -> None:
    puzzle = grounding.NEEDLES.puzzle(1, Slot(1))
    assert puzzle.facts["values"] == [612, 632, 252]
    assert puzzle.expected == "1496"


@given(st.integers(0, 2**32 - 1), st.text(max_size=20), st.integers(0, 2**31), st.booleans())
def test_a_seed_has_32_bits_and_is_always_the_same(base: int, key: str, run: int, warm_up: bool) -> None:
    seed = seed_of(base, key, run, warm_up=warm_up)
    assert 0 <= seed < 2**32
    assert seed == seed_of(base, key, run, warm_up=warm_up)


def test_letters_beyond_the_first_plane_count_as_two_units() -> None:
    value = 0
    for unit in (0xD83D, 0xDE00):
        value = ((value ^ unit) * 16_777_619) % 2**32
    assert seed_of(1, "\U0001f600", 1) == value


@given(st.integers(0, 2**32 - 1), st.integers(-50, 50), st.integers(0, 100))
def test_integers_keep_their_bounds(seed: int, lowest: int, width: int) -> None:
    draw = Draw(seed)
    drawn = [draw.integer(lowest, lowest + width) for _ in range(20)]
    assert all(lowest <= number <= lowest + width for number in drawn)


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(), max_size=12))
def test_shuffling_keeps_everything(seed: int, items: list[int]) -> None:
    assert sorted(Draw(seed).shuffled(items)) == sorted(items)


def test_both_ends_of_a_range_are_drawn() -> None:
    draw = Draw(7)
    assert {draw.integer(1, 6) for _ in range(200)} == {1, 2, 3, 4, 5, 6}
