"""Wishes: boards of made-up candidates, and what readers may ask of them, drawn at random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from generators.statistics.bounds import Bounds
from generators.statistics.planner import Plan
from generators.statistics.verdict import Kind, Pair, Word, verdicts
from generators.tables.boards import Board
from generators.tables.cells import Cell
from generators.tables.choices import Candidate, Choices, Quality, Versus
from generators.tables.decision import Wish
from generators.tables.differences import AmountConclusion, AmountDifference
from generators.tables.dollars import Priced
from generators.tables.sample import Value
from runner.records import CostBasis, Hosting
from tests.generators.tables.made import Made, one_cell

KINDS = tuple(kind.value for kind in Hosting)
HARNESSES = ("loop", "pi", "claude-code")
BASES = (CostBasis.METERED, CostBasis.CREDITS, CostBasis.PRICE_TABLE, CostBasis.HARDWARE_DERIVED)


def any_cell(root: Path) -> Cell:
    """A real cell, for candidates whose figures are made up."""
    return one_cell(root, Made())


def quality(source: random.Random, tasks: int) -> tuple[Quality, list[float]]:
    """A quality and the scores of its tasks; sometimes without any, alike, or of passes and failures."""
    if source.random() < 0.1:
        return Quality(None, None, None, 0, None, None, None, None, tasks, 0), [float("nan")] * tasks
    level = source.uniform(20, 90)
    scores = [round(min(100.0, max(0.0, source.gauss(level, 8))), 1) for _ in range(tasks)]
    if source.random() < 0.15:
        scores = [scores[0]] * tasks
    passed = None
    if source.random() < 0.2:
        scores = [100.0 * (score > 50) for score in scores]
        passed = sum(score > 0 for score in scores)
    mean = sum(scores) / tasks
    variance = sum((score - mean) ** 2 for score in scores) / max(1, tasks - 1)
    error = (variance / tasks) ** 0.5
    half = 2.2 * error if error else None
    open_trials = source.choice([0, 0, 0, 1, 2])
    bounds = Bounds(
        mean * tasks / (tasks + open_trials), 100.0 * open_trials / (tasks + open_trials), open_trials
    )
    found = Quality(
        amount=mean,
        centre=mean,
        error=error if error > 0 and passed is None else None,
        tasks=tasks,
        lower=mean - half if half is not None else None,
        upper=mean + half if half is not None else None,
        worst=bounds.lower,
        best=bounds.lower + bounds.upper,
        open=open_trials,
        failed=source.choice([0, 0, 1]),
        passed=passed,
    )
    return found, scores


def nearly(source: random.Random, like: tuple[Quality, list[float]]) -> tuple[Quality, list[float]]:
    """Another cell with almost the same scores."""
    return like[0], [score + source.choice([-0.2, 0.0, 0.1, 0.2]) for score in like[1]]


def candidate(source: random.Random, cell: Cell, found: Quality) -> Candidate:
    """A candidate of this quality; cost and minutes may be unknown, and costs may be equal."""
    basis = source.choice(BASES)
    priced = Priced(basis)
    dollars = source.choice([None, 1.0, 0.05, source.uniform(0.00001, 30), source.uniform(0.1, 5)])
    minutes = source.choice([None, 10.0, source.uniform(0.2, 90), source.uniform(1, 30)])
    known = dollars is not None
    return Candidate(
        cell=cell,
        quality=found,
        cost=Value(dollars, 5 if known else 0, 5, "" if known else "not told", priced if known else None),
        minutes=Value(minutes, 5 if minutes is not None else 0, 5),
        hosting=source.choice(KINDS),
        harness=source.choice(HARNESSES),
        basis=basis.value if known else None,
        membership=source.random() if known and found.amount is not None else None,
        across=source.random() if known and found.amount is not None else None,
    )


def trials(source: random.Random) -> Plan:
    """Trials to add, or why none would do."""
    return source.choice([Plan(None, None, "chance is unknown"), Plan(source.randint(1, 9), None)])


def cost(source: random.Random) -> AmountConclusion | None:
    """Which of a pair costs less, where that is told."""
    lower = source.choice(["first", "second", None])
    found = AmountConclusion(
        AmountDifference("cost", None, None, None),
        Word.BETTER if lower else Word.NOT_ENOUGH,
        lower,
        f"adjusted p {source.random():.3f}",
    )
    return source.choice([None, found])


def made_choices(source: random.Random, cell: Cell) -> Choices:
    """A board of none to twelve candidates with their pairs."""
    tasks = source.choice([1, 4, 5, 6, 10, 21, 40])
    alike = source.random() < 0.3
    drawn = [quality(source, tasks) for _ in range(source.choice([0, 1, 2, 3, 6, 12]))]
    if alike and drawn:
        # Cells that hardly differ: the same tasks are hard for all of them.
        drawn = [nearly(source, drawn[0]) for _ in drawn]
    drawn.sort(key=lambda each: -(each[0].amount if each[0].amount is not None else -1.0))
    candidates = tuple(candidate(source, cell, found) for found, _ in drawn)
    places = [
        (one, two)
        for one in range(len(drawn))
        for two in range(one + 1, len(drawn))
        if drawn[one][0].amount is not None and drawn[two][0].amount is not None
    ]
    found = verdicts([Pair(drawn[one][1], drawn[two][1]) for one, two in places])
    pairs = tuple(
        Versus(
            one, two, verdict, "", source.uniform(1, 20) if tasks > 5 else None, trials(source), cost(source)
        )
        if source.random() > 0.1
        else Versus(one, two, None, "judged by different judges", None, Plan(None, None), cost(source))
        for (one, two), verdict in zip(places, found, strict=True)
    )
    return Choices(Board("made", (), ()), Kind.SCORE, candidates, pairs)


def wish(source: random.Random, candidates: Sequence[Candidate]) -> Wish:
    """A wish; its limits often are the very figures of a candidate."""

    def limit(amounts: Sequence[float | None], most: float) -> float:
        known = [amount for amount in amounts if amount is not None]
        return source.choice(known) if known and source.random() < 0.4 else round(source.uniform(0, most), 2)

    def asked(chance: float) -> bool:
        return source.random() < chance

    return Wish(
        floor=source.choice([0.0, 100.0, limit([each.quality.amount for each in candidates], 100), 60.0]),
        budget=limit([each.cost.amount for each in candidates], 20) if asked(0.4) else None,
        minutes=limit([each.minutes.amount for each in candidates], 60) if asked(0.4) else None,
        hosting=frozenset(kind for kind in KINDS if asked(0.6)) if asked(0.4) else None,
        harness=source.choice(HARNESSES) if asked(0.3) else None,
        private=asked(0.15),
    )
