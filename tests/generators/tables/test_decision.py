"""Decision: the cheapest that fits, what it is sure of, and what would change it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from scipy import stats

from generators.statistics.planner import Plan
from generators.statistics.verdict import Kind, Word
from generators.tables.boards import Board
from generators.tables.cells import Cell
from generators.tables.choices import Candidate, Choices, Quality
from generators.tables.decision import Change, Sureness, Why, Wish, decide, hold
from generators.tables.sample import Value
from tests.generators.tables.wishes import any_cell, made_choices, wish

CLEAR = Quality(70.0, 70.0, 2.0, 10, 65.0, 75.0, 70.0, 70.0, 0, 0)


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    return any_cell(tmp_path_factory.mktemp("cell"))


def offer(cell: Cell, score: float | None, cost: float | None, minutes: float | None = 5.0) -> Candidate:
    """A candidate with these figures, self-hosted under loop."""
    found = replace(CLEAR, amount=score, centre=score)
    return Candidate(
        cell=cell,
        quality=found,
        cost=Value(cost, 5, 5),
        minutes=Value(minutes, 5, 5),
        hosting="self-hosted",
        harness="loop",
        basis="metered" if cost is not None else None,
        membership=None,
        across=None,
    )


def choices(*candidates: Candidate) -> Choices:
    """A board without pairs."""
    return Choices(Board("made", (), ()), Kind.SCORE, candidates, ())


def drawn(cell: Cell, boards: int, wishes: int) -> Iterator[tuple[Choices, Wish]]:
    """Made boards with wishes about them, always the same."""
    source = random.Random(8)
    for _ in range(boards):
        board = made_choices(source, cell)
        for _ in range(wishes):
            yield board, wish(source, board.candidates)


def allows(candidate: Candidate, asked: Wish) -> bool:
    """Whether a candidate does all that is asked, written another way than the code under test."""
    limits = [
        (candidate.quality.amount, asked.floor, 1.0),
        (candidate.cost.amount, asked.budget, -1.0),
        (candidate.minutes.amount, asked.minutes, -1.0),
    ]
    kept = all(
        limit is None or (value is not None and sign * value >= sign * limit) for value, limit, sign in limits
    )
    hosted = asked.hosting is None or candidate.hosting in asked.hosting
    own = not asked.private or candidate.hosting == "self-hosted"
    return kept and hosted and own and asked.harness in {None, candidate.harness}


def test_the_answer_is_the_cheapest_of_all_that_do_what_is_asked(cell: Cell) -> None:
    answered = 0
    for board, asked in drawn(cell, 60, 20):
        found = decide(board, asked)
        fitting = [each for each in board.candidates if allows(each, asked)]
        known = [each.cost.amount for each in fitting if each.cost.amount is not None]
        assert len(found.fits) == len(known)
        assert len(found.unpriced) == len(fitting) - len(known)
        if found.answer is None:
            assert known == []
        else:
            assert board.candidates[found.answer].cost.amount == min(known)
            answered += 1
        costs = [board.candidates[at].cost.amount for at in found.fits]
        assert costs == sorted(costs, key=lambda amount: amount or 0.0)
    assert answered > 300


def moved(asked: Wish, change: Change, *, past: bool) -> Wish:
    """The wish with the limit moved as the change says; ``past`` moves it just over the edge."""
    at = change.at
    match change.limit:
        case Why.FLOOR:
            assert at is not None
            return replace(asked, floor=math.nextafter(at, math.inf) if past else at)
        case Why.BUDGET:
            assert at is not None
            return replace(asked, budget=math.nextafter(at, 0.0) if past else at)
        case Why.MINUTES:
            assert at is not None
            return replace(asked, minutes=math.nextafter(at, 0.0) if past else at)
        case Why.HOSTING:
            return replace(asked, hosting=None, private=False)
        case _:
            return replace(asked, harness=None)


def test_each_change_named_changes_the_answer_to_what_it_says_and_a_smaller_one_does_not(cell: Cell) -> None:
    seen: dict[tuple[Why, bool], int] = {}
    for board, asked in drawn(cell, 120, 20):
        found = decide(board, asked)
        for change in found.changes:
            seen[change.limit, change.raised] = seen.get((change.limit, change.raised), 0) + 1
            tightens = change.raised if change.limit is Why.FLOOR else not change.raised
            after = decide(board, moved(asked, change, past=tightens)).answer
            assert after == change.candidate, (change, asked)
            if change.limit in {Why.FLOOR, Why.BUDGET, Why.MINUTES}:
                # On the edge itself, coming from the wish, nothing has changed yet.
                edge = decide(board, moved(asked, change, past=not tightens)).answer
                assert edge == found.answer, (change, asked)
    assert set(seen) >= {
        (limit, True) for limit in (Why.FLOOR, Why.BUDGET, Why.MINUTES, Why.HOSTING, Why.HARNESS)
    }
    assert set(seen) >= {(limit, False) for limit in (Why.FLOOR, Why.BUDGET, Why.MINUTES)}


def test_asking_for_more_never_makes_the_answer_cheaper(cell: Cell) -> None:
    for board, asked in drawn(cell, 60, 10):
        before, harder = decide(board, asked), decide(board, replace(asked, floor=asked.floor + 5))
        assert set(harder.fits) <= set(before.fits)
        if harder.answer is not None and before.answer is not None:
            costs = board.candidates[harder.answer].cost.amount, board.candidates[before.answer].cost.amount
            assert (costs[0] or 0.0) >= (costs[1] or 0.0)


def test_an_unknown_cost_is_never_free_and_never_the_answer(cell: Cell) -> None:
    board = choices(offer(cell, 90.0, None), offer(cell, 70.0, 3.0))
    found = decide(board, Wish(floor=60))
    assert (found.answer, found.unpriced) == (1, (0,))
    capped = decide(board, Wish(floor=60, budget=5))
    assert (capped.answer, capped.unpriced, capped.why[0]) == (1, (), (Why.COST_UNKNOWN,))
    nobody = decide(choices(offer(cell, 90.0, None)), Wish(floor=60))
    assert (nobody.answer, nobody.unpriced, nobody.changes) == (None, (0,), ())


def test_unknown_minutes_keep_no_limit(cell: Cell) -> None:
    board = choices(offer(cell, 90.0, 1.0, None), offer(cell, 70.0, 3.0))
    assert decide(board, Wish()).answer == 0
    assert decide(board, Wish(minutes=1000)).why[0] == (Why.MINUTES_UNKNOWN,)


def test_where_nothing_fits_the_nearest_is_named_with_all_it_falls_short_of(cell: Cell) -> None:
    board = choices(offer(cell, 80.0, 9.0, 60.0), offer(cell, 58.0, 1.0), offer(cell, 40.0, 0.5))
    found = decide(board, Wish(floor=60, budget=5, minutes=30))
    assert (found.answer, found.nearest, found.why[1]) == (None, 1, (Why.FLOOR,))
    assert found.changes == (Change(Why.FLOOR, False, 58.0, 1),)
    empty = decide(choices(), Wish())
    assert (empty.answer, empty.nearest, empty.fits) == (None, None, ())
    assert decide(choices(offer(cell, None, 1.0)), Wish()).nearest is None


def test_a_single_cell_has_no_rival(cell: Cell) -> None:
    found = decide(choices(offer(cell, 70.0, 1.0)), Wish(floor=60))
    assert (found.answer, found.rival, found.separate) == (0, None, None)
    assert [each.candidate for each in found.changes] == [None, None, None]


def test_private_code_means_self_hosted_whatever_hosting_is_allowed(cell: Cell) -> None:
    cloud = replace(offer(cell, 90.0, 0.5), hosting="cloud")
    board = choices(cloud, offer(cell, 70.0, 3.0))
    assert decide(board, Wish()).answer == 0
    assert decide(board, Wish(private=True)).answer == 1
    nothing = decide(board, Wish(private=True, hosting=frozenset({"cloud"})))
    assert (nothing.answer, nothing.why[1]) == (None, (Why.HOSTING,))


def test_hosting_that_is_not_known_is_allowed_only_where_any_is(cell: Cell) -> None:
    board = choices(replace(offer(cell, 70.0, 1.0), hosting="unknown"))
    assert decide(board, Wish()).answer == 0
    assert decide(board, Wish(hosting=frozenset({"cloud", "self-hosted"}))).answer is None


@pytest.mark.parametrize(
    ("changed", "floor", "word"),
    [
        ({}, 65.0, Sureness.CLEARS),
        ({}, 65.1, Sureness.NOT_ENOUGH),
        ({}, 75.1, Sureness.MISSES),
        ({"tasks": 5}, 10.0, Sureness.NOT_ENOUGH),
        ({"worst": 64.0, "open": 1}, 65.0, Sureness.NOT_ENOUGH),
        ({"best": 80.0, "open": 1}, 75.1, Sureness.NOT_ENOUGH),
        ({"lower": None, "upper": None}, 10.0, Sureness.NOT_ENOUGH),
    ],
)
def test_a_floor_is_cleared_only_where_interval_and_bounds_say_so(
    changed: dict[str, float], floor: float, word: Sureness
) -> None:
    assert hold(replace(CLEAR, **changed), floor).word is word  # type: ignore[arg-type]


def test_the_probability_is_that_of_student_and_of_beta() -> None:
    assert hold(CLEAR, 66.0).probability == pytest.approx(stats.t.cdf(2.0, 9))
    assert hold(CLEAR, 70.0).probability == pytest.approx(0.5)
    share = replace(CLEAR, passed=7, error=None)
    assert hold(share, 60.0).probability == pytest.approx(stats.beta.sf(0.6, 8, 4))
    assert hold(replace(CLEAR, error=None), 60.0).probability is None


def test_the_surest_is_named_where_the_cheapest_is_not_sure(cell: Cell) -> None:
    unsure = replace(offer(cell, 64.0, 1.0), quality=replace(CLEAR, amount=64.0, centre=64.0, lower=55.0))
    found = decide(choices(offer(cell, 70.0, 3.0), unsure), Wish(floor=60))
    assert (found.answer, found.surely) == (1, 0)


def test_a_run_to_settle_the_floor_is_priced_from_what_a_task_cost(cell: Cell) -> None:
    unsure = replace(offer(cell, 64.0, 0.5), quality=replace(CLEAR, amount=64.0, centre=64.0, lower=55.0))
    found = decide(choices(unsure), Wish(floor=60))
    assert found.settle is not None
    assert found.settle.plan.more is not None
    (price,) = found.settle.prices
    assert price == pytest.approx(0.5 * found.settle.plan.more)
    level = decide(choices(unsure), Wish(floor=64))
    assert level.settle is not None
    assert (level.settle.plan.more, level.settle.prices) == (None, (None,))


def test_a_run_to_separate_is_asked_for_only_where_the_verdict_is_open(cell: Cell) -> None:
    seen: set[Word] = set()
    for board, asked in drawn(cell, 80, 10):
        found = decide(board, asked)
        if found.answer is None or found.rival is None:
            assert found.separate is None
            continue
        pair = board.versus(found.answer, found.rival)
        if pair is None or pair.verdict is None:
            continue
        seen.add(pair.verdict.word)
        assert (found.separate is not None) == (pair.verdict.word is Word.NOT_ENOUGH)
        if found.separate is not None and found.separate.plan.more is not None:
            each = [board.candidates[at].cost.amount or 0.0 for at in found.separate.candidates]
            assert found.separate.prices == tuple(found.separate.plan.more * cost for cost in each)
            assert isinstance(found.separate.plan, Plan)
    assert seen == set(Word)
