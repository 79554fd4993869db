"""Docket: which sides of which pairs a judge has still to score."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.judges.brief import Sealing, make_brief
from runner.judges.rubric import Rubric
from runner.judges.suites import Pair, Suite
from runner.records import CHANGED, REFERENCE, ProofRecord

SIDES: tuple[str, ...] = (REFERENCE, CHANGED)
PLACEHOLDER = Sealing("candidate-00000000", "0" * 24)


@dataclass(frozen=True)
class Entry:
    """One scoring to be made."""

    suite: Suite
    pair: Pair
    side: str
    number: int

    @property
    def name(self) -> str:
        """In messages."""
        return f"{self.suite.name}/{self.pair.id} {self.side} #{self.number}"


@dataclass(frozen=True)
class Docket:
    """Scorings to be made, and how many there are already."""

    entries: tuple[Entry, ...]
    stored: int

    def prompt_characters(self, rubric: Rubric) -> int:
        """Length of all first questions together, without what an agentic judge reads by itself."""
        lengths: dict[tuple[str, str, str], int] = {}
        for entry in self.entries:
            key = (entry.suite.name, entry.pair.id, entry.side)
            if key not in lengths:
                by = entry.pair.rubric(entry.side, rubric)
                brief = make_brief(entry.pair.case(entry.side), by, PLACEHOLDER, workspace=None)
                lengths[key] = len(brief.prompt)
        return sum(lengths[entry.suite.name, entry.pair.id, entry.side] for entry in self.entries)


@dataclass(frozen=True)
class Yardstick:
    """What two scores must have in common to be compared."""

    judge: str
    version: str
    rubric_sha256: str

    def fits(self, record: ProofRecord) -> bool:
        """Whether ``record`` was made with it."""
        judge = record.judge
        return (judge.name, judge.version, record.rubric_sha256) == (
            self.judge,
            self.version,
            self.rubric_sha256,
        )


def make_docket(
    suites: Sequence[Suite],
    records: Iterable[ProofRecord],
    yardstick: Yardstick,
    *,
    repeats: int = 1,
    count: int | None = None,
) -> Docket:
    """What is left to score: each side of each pair ``repeats`` times, the first time of all before the rest.

    Args:
        records: what the store holds, of whomever.
        count: only the first so many pairs of each suite; they are of as many categories as they can be.
    """
    taken: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    made: dict[tuple[str, str, str], int] = defaultdict(int)
    digests = {suite.name: suite.digest for suite in suites}
    for record in records:
        key = (record.suite, record.pair, record.side)
        if record.judge.name == yardstick.judge:
            taken[key].add(record.number)
            made[key] += yardstick.fits(record) and record.suite_sha256 == digests.get(record.suite)
    rounds: list[list[Entry]] = [[] for _ in range(repeats)]
    stored = 0
    for suite in suites:
        for pair in suite.pairs[:count]:
            for side in SIDES:
                place = (suite.name, pair.id, side)
                done = min(made[place], repeats)
                stored += done
                free = (number for number in itertools.count(1) if number not in taken[place])
                for turn, number in zip(range(done, repeats), free, strict=False):
                    rounds[turn].append(Entry(suite, pair, side, number))
    return Docket(tuple(entry for each in rounds for entry in each), stored)
