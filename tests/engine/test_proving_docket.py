"""What is left to score, whatever the store holds already; and what that can cost at most."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.engine.judging.settings import JudgeSettings
from runner.engine.proving.docket import SIDES, Docket, Yardstick, make_docket
from runner.engine.proving.estimate import estimate
from runner.judges.rubric import rubric
from runner.judges.suites import load_suite
from runner.records import CHANGED, REFERENCE, ProofRecord
from tests import examples

DATASETS = Path(__file__).parents[2] / "datasets"
RUBRIC = rubric("implementation")
ORDER = load_suite("order", DATASETS)
YARDSTICK = Yardstick("second-opinion", "0.1.0", RUBRIC.digest)
PAIRS = 4


def stored(place: int, side: str, number: int, **changes: object) -> ProofRecord:
    """A record of one of the first pairs."""
    facts = {"suite": ORDER.name, "suite_sha256": ORDER.digest, "rubric_sha256": RUBRIC.digest}
    pair = ORDER.pairs[place]
    return examples.proof(**{**facts, "pair": pair.id, "side": side, "number": number, **changes})


def names(docket: Docket) -> list[str]:
    """What is to be made, in order."""
    return [entry.name for entry in docket.entries]


def test_both_sides_of_a_pair_come_together_and_the_first_round_before_the_second() -> None:
    docket = make_docket([ORDER], [], YARDSTICK, repeats=2, count=2)
    first, second = (pair.id for pair in ORDER.pairs[:2])
    round_one = [f"order/{pair} {side} #1" for pair in (first, second) for side in SIDES]
    assert names(docket) == [*round_one, *(name.replace("#1", "#2") for name in round_one)]
    assert docket.stored == 0


def test_without_a_count_every_pair_of_every_suite_is_asked() -> None:
    length = load_suite("length", DATASETS)
    docket = make_docket([ORDER, length], [], YARDSTICK)
    assert len(docket.entries) == 2 * (len(ORDER.pairs) + len(length.pairs))


@pytest.mark.parametrize(
    "change",
    [
        {"rubric_sha256": "0" * 64},
        {"suite_sha256": "0" * 64},
        {"judge": examples.judgement().judge.model_copy(update={"version": "0.2.0"})},
    ],
)
def test_scores_that_cannot_be_compared_do_not_count_and_keep_their_numbers(
    change: dict[str, object],
) -> None:
    docket = make_docket([ORDER], [stored(0, CHANGED, 1, **change)], YARDSTICK, count=1)
    assert docket.stored == 0
    assert [(entry.side, entry.number) for entry in docket.entries] == [(REFERENCE, 1), (CHANGED, 2)]


def test_another_judges_scores_are_none_of_this_one() -> None:
    other = examples.judgement().judge.model_copy(update={"name": "third-opinion"})
    docket = make_docket([ORDER], [stored(0, CHANGED, 1, judge=other)], YARDSTICK, count=1)
    assert [(entry.side, entry.number) for entry in docket.entries] == [(REFERENCE, 1), (CHANGED, 1)]


PLACES = st.tuples(st.integers(0, PAIRS - 1), st.sampled_from(SIDES), st.integers(1, 5), st.booleans())


@settings(max_examples=60, deadline=None)
@given(st.sets(PLACES, max_size=20), st.integers(1, 4))
def test_making_what_is_left_leaves_nothing_and_no_number_is_taken_twice(
    held: set[tuple[int, str, int, bool]], repeats: int
) -> None:
    """The last part of a place says whether the score can be compared."""
    by_place = {(place, side, number): fits for place, side, number, fits in held}
    records = [
        stored(place, side, number, **({} if fits else {"suite_sha256": "0" * 64}))
        for (place, side, number), fits in by_place.items()
    ]
    docket = make_docket([ORDER], records, YARDSTICK, repeats=repeats, count=PAIRS)
    ids = {pair.id: place for place, pair in enumerate(ORDER.pairs)}
    new = [(ids[entry.pair.id], entry.side, entry.number) for entry in docket.entries]
    assert len(set(new)) == len(new)
    assert not set(new) & set(by_place)
    assert docket.stored + len(new) == 2 * PAIRS * repeats
    after = make_docket(
        [ORDER], [*records, *(stored(*each) for each in new)], YARDSTICK, repeats=repeats, count=PAIRS
    )
    assert after.entries == ()


def lines(docket: Docket, *, free: bool = False, agentic: bool = False, **prices: Any) -> str:
    """What is said of the cost."""
    judge = JudgeSettings(model="m", provider="openai", max_output_tokens=1000, **prices)
    return "\n".join(estimate(judge, docket, RUBRIC, free=free, agentic=agentic))


def test_the_ceiling_is_three_full_answers_to_every_question() -> None:
    docket = make_docket([ORDER], [], YARDSTICK, count=2)
    characters = docket.prompt_characters(RUBRIC)
    found = re.search(r"at most \$([\d.]+)", lines(docket, price_input=1000.0, price_output=2000.0))
    assert found is not None
    asked = 3 * characters / 2 + 2 * 4 * 1000
    assert math.isclose(float(found[1]), (asked * 1000 + 12 * 1000 * 2000) / 1e6, abs_tol=0.01)


def test_repeats_are_asked_and_paid_for_anew() -> None:
    once = make_docket([ORDER], [], YARDSTICK, count=1)
    thrice = make_docket([ORDER], [], YARDSTICK, count=1, repeats=3)
    assert thrice.prompt_characters(RUBRIC) == 3 * once.prompt_characters(RUBRIC)


def test_what_cannot_be_known_is_said_and_not_guessed() -> None:
    docket = make_docket([ORDER], [], YARDSTICK, count=1)
    assert "$" not in lines(docket)
    assert "unknown without prices" in lines(docket)
    assert "no ceiling can be told" in lines(docket, agentic=True, price_input=1.0, price_output=1.0)
    assert "none, the answers are scripted" in lines(docket, free=True)
    assert lines(Docket((), 4)) == ""
