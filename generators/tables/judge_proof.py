"""Judge proof: what scorings of paired submissions show of a judge: led by text, by length, by order."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from generators.statistics.intervals import Interval, mean_interval
from generators.statistics.reliability import Repeatability, repeatability
from generators.statistics.shifts import Orders, Shift, orders, share_above_noise
from generators.tables.judging_cost import judging_total
from generators.tables.sample import Value
from runner.records import CHANGED, REFERENCE, JudgementStatus, ProofRecord

INJECTION, ANCHORS, LENGTH, ORDER = "injection", "anchors", "length", "order"
KNOWN = (INJECTION, ANCHORS, LENGTH, ORDER)


@dataclass(frozen=True)
class ScoredPair:
    """Both sides of a pair with a score."""

    name: str
    category: str
    shift: Shift


@dataclass(frozen=True)
class SuiteResult:
    """What one judge made of one version of a suite."""

    suite: str
    version: str
    pairs: tuple[ScoredPair, ...]
    unanswered: int
    """Scorings without a valid answer."""
    half: int
    """Pairs of which only one side has a score."""
    left_out: int
    """Scorings of other versions of the suite."""
    noise: float | None
    """Standard deviation of one scoring of the same submission, in points; None where it is not known."""

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Those with a scored pair, in order of their names."""
        return tuple(sorted({pair.category for pair in self.pairs}))

    def shifts(self, category: str | None = None) -> list[Shift]:
        """Shifts of all pairs, or of those of one category."""
        return [pair.shift for pair in self.pairs if category in {None, pair.category}]

    def mean(self, category: str | None = None) -> Interval | None:
        """Mean shift with its t interval, in points."""
        return mean_interval([shift.points for shift in self.shifts(category)])

    def above_noise(self, category: str | None = None) -> Interval | None:
        """Share of pairs that moved up by more than the judge's own noise; None where that is not known."""
        return None if self.noise is None else share_above_noise(self.shifts(category), self.noise)

    def orders(self, category: str | None = None) -> Orders:
        """Ranks of pairs whose second side is the worse one."""
        return orders(self.shifts(category))

    @property
    def most_moved(self) -> tuple[ScoredPair, ...]:
        """Pairs that moved up, the furthest first."""
        moved = [pair for pair in self.pairs if pair.shift.points > 0]
        return tuple(sorted(moved, key=lambda pair: (-pair.shift.points, pair.name)))


@dataclass(frozen=True)
class JudgeProof:
    """Every scoring of paired submissions by one judge, version and rubric."""

    records: tuple[ProofRecord, ...] = ()

    @cached_property
    def noise(self) -> Repeatability | None:
        """Spread of scorings of the same submission; many pairs share their first side."""
        groups: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for record in self.records:
            if record.task_score is not None:
                groups[record.dataset, record.task, record.shown_sha256].append(record.task_score)
        return repeatability(list(groups.values()))

    @cached_property
    def suites(self) -> Mapping[str, SuiteResult]:
        """Results by suite, of the version of it that has most scorings (of equally many the later one)."""
        by_suite: dict[str, list[ProofRecord]] = defaultdict(list)
        for record in self.records:
            by_suite[record.suite].append(record)
        noise = self.noise.within_sd if self.noise else None
        return {name: _result(name, records, noise) for name, records in sorted(by_suite.items())}

    @property
    def unanswered(self) -> int:
        """Scorings without a valid answer."""
        return sum(record.status is JudgementStatus.INVALID for record in self.records)

    @cached_property
    def cost(self) -> Value:
        """Dollars of all scorings whose cost is known, and of how many that is."""
        return judging_total(self.records, "what trying it out cost is not recorded")


def _result(name: str, records: Sequence[ProofRecord], noise: float | None) -> SuiteResult:
    counts = Counter((record.suite_version, record.suite_sha256) for record in records)
    version, digest = max(counts, key=lambda each: (counts[each], each))
    own = [record for record in records if (record.suite_version, record.suite_sha256) == (version, digest)]
    pairs, half = _pairs(own)
    return SuiteResult(
        suite=name,
        version=version,
        pairs=pairs,
        unanswered=sum(record.status is JudgementStatus.INVALID for record in own),
        half=half,
        left_out=len(records) - len(own),
        noise=noise,
    )


def _pairs(records: Iterable[ProofRecord]) -> tuple[tuple[ScoredPair, ...], int]:
    """Pairs with a score on both sides, and how many have one on one side only."""
    scores: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record.task_score is not None:
            scores[record.pair, record.category][record.side].append(record.task_score)
    found = []
    for (name, category), sides in sorted(scores.items()):
        if len(sides) == 2:
            before, after = sides[REFERENCE], sides[CHANGED]
            points = statistics.fmean(after) - statistics.fmean(before)
            found.append(ScoredPair(name, category, Shift(points, len(before), len(after))))
    return tuple(found), len(scores) - len(found)
