"""Trials in memory: facts and samples without a store, and strategies that make them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from generators.tables.facts import TrialFacts, derive_facts
from generators.tables.sample import Sample
from generators.tables.yardstick import Yardstick
from runner.costs.bases import Pricing
from runner.costs.hardware import HardwareRates
from runner.costs.price_book import PriceBook
from runner.records import CheckStatus, JudgementStatus, Outcome
from runner.store import StoredTrial
from tests import examples
from tests.generators.tables.made import RUBRIC, Made, prices

NOWHERE = Path("nowhere")
NO_PRICES = Pricing(PriceBook(), HardwareRates([], prices()))

MADE = st.builds(
    Made,
    task=st.sampled_from(["task-a", "task-b", "task-c", "task-d"]),
    points=st.one_of(st.none(), st.tuples(*[st.integers(0, 25)] * 4)),
    cost=st.one_of(st.none(), st.floats(0.001, 500)),
    outcome=st.sampled_from([Outcome.COMPLETED, Outcome.TIMEOUT, Outcome.INFRASTRUCTURE, Outcome.CHEATING]),
    status=st.sampled_from(list(JudgementStatus)),
    checks=st.lists(st.sampled_from(list(CheckStatus)), max_size=3).map(tuple),
)


def stored(made: Made) -> StoredTrial:
    """The trial as a store would give it."""
    return StoredTrial(made.record(), made.judgements(), made.check_records(), NOWHERE)


def yardstick(rubric: str = RUBRIC) -> Yardstick:
    """The judge of made trials with this rubric."""
    judge = examples.judgement().judge
    return Yardstick(judge.name, judge.model, judge.version, rubric)


def facts(made: Made, rubric: str = RUBRIC, complexity: str | None = None) -> TrialFacts:
    """Facts of one made trial."""
    return derive_facts(stored(made), NO_PRICES, yardstick(rubric), complexity)


def sample(*trials: Made, missing: int = 0) -> Sample:
    """A sample of these trials, and as many planned ones that never ran."""
    return Sample(tuple(facts(made) for made in trials), len(trials) + missing)


SAMPLES = st.lists(MADE, max_size=8).flatmap(
    lambda trials: st.integers(0, 3).map(lambda missing: sample(*trials, missing=missing))
)
