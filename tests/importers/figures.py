"""Figures recomputed from the committed records, and the published files to compare them with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from runner.costs import (
    Commitment,
    HardwareRates,
    InstancePrices,
    PriceBook,
    Pricing,
    costs_of,
    load_instance_prices,
    tokens_processed,
)
from runner.records import JudgementStatus, Standing, ThroughputRecord
from runner.store import ResultsStore, StoredTrial

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "published"
RESULTS = ROOT / "results"
PRICES = ROOT / "datasets" / "prices" / "instances.yaml"
RUN_FOLDERS = ("claude-code", "pi", "kiro-cli", "strands")
FOLDERS = (*RUN_FOLDERS, "throughput")
V1 = "mcp-gateway-registry"
V2 = "mcp-gateway-registry-v2"

Json = dict[str, Any]


def read(path: Path) -> Json:
    """A published file as plain JSON."""
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


@cache
def tables() -> Json:
    """The published tables."""
    return read(DATA / "tables.json")


def run_files() -> list[Path]:
    """The 65 files with one run each."""
    return [path for folder in RUN_FOLDERS for path in sorted((DATA / folder).glob("*.json"))]


@cache
def committed() -> tuple[StoredTrial, ...]:
    """Every trial of the committed store that was imported."""
    return tuple(
        stored for stored in ResultsStore(RESULTS).trials() if stored.record.plan_id.startswith("published-")
    )


@cache
def sweeps() -> tuple[ThroughputRecord, ...]:
    """Every committed sweep."""
    return tuple(ResultsStore(RESULTS).sweeps())


@cache
def prices() -> InstancePrices:
    """The shipped price list."""
    return load_instance_prices(PRICES)


def rates(commitment: Commitment = Commitment.COMMIT_3YR, **instances: float) -> HardwareRates:
    """Rates of the committed sweeps; ``instances`` puts another hourly rate in place of a machine's."""
    listed = prices()
    changed = {
        name: price.model_copy(
            update={"usd_per_hour": {**price.usd_per_hour, commitment: instances[_key(name)]}}
            if _key(name) in instances
            else {}
        )
        for name, price in listed.instances.items()
    }
    return HardwareRates(sweeps(), listed.model_copy(update={"instances": changed}), commitment)


def pricing() -> Pricing:
    """The usual rates without a price book."""
    return Pricing(PriceBook(), rates())


def _key(instance_type: str) -> str:
    return instance_type.split(".")[0] if instance_type.startswith("p5en") else instance_type


@dataclass(frozen=True)
class Cell:
    """The counted trials of one cell."""

    trials: Sequence[StoredTrial]

    @property
    def scored(self) -> list[StoredTrial]:
        """Trials with a judgement that is neither invalid nor zero by missing artifacts."""
        return [
            stored
            for stored in self.trials
            if any(judgement.status is JudgementStatus.SCORED for judgement in stored.judgements)
        ]

    @property
    def unscored_tasks(self) -> list[str]:
        """Tasks that the source calls failed: zero, or never judged."""
        scored = {id(stored) for stored in self.scored}
        return sorted(stored.record.identity.task for stored in self.trials if id(stored) not in scored)

    @property
    def scores(self) -> list[float]:
        """Scores of the scored trials."""
        return [score for stored in self.scored if (score := stored.judgements[0].task_score) is not None]

    @property
    def mean_score(self) -> float | None:
        """Mean over scored trials."""
        return mean(self.scores)

    @property
    def completed(self) -> str:
        """n of m as the source prints it."""
        return f"{len(self.scored)}/{len(self.trials)}"

    @property
    def tokens(self) -> int | None:
        """Tokens processed of all trials, None where one is unknown."""
        return total([tokens_processed(stored.record.usage) for stored in self.trials])

    @property
    def minutes(self) -> float:
        """Wall clock of all trials."""
        return sum(stored.record.duration_seconds or 0.0 for stored in self.trials) / 60

    def count(self, name: str) -> int | None:
        """Sum of one usage count, None where one is unknown."""
        return total(
            [
                None if stored.record.usage is None else getattr(stored.record.usage, name)
                for stored in self.trials
            ]
        )

    def costs(self, with_rates: HardwareRates, *, scored_only: bool = False) -> list[float | None]:
        """Headline cost of each trial."""
        chosen = self.scored if scored_only else self.trials
        return [
            costs_of(stored.record, Pricing(PriceBook(), with_rates)).headline.amount_usd for stored in chosen
        ]

    def run_cost(self, with_rates: HardwareRates) -> float | None:
        """Dollars of all trials, failed ones too; None where one is unknown."""
        known = [cost for cost in self.costs(with_rates) if cost is not None]
        return sum(known) if len(known) == len(self.trials) else None

    def cost_per_task(self, with_rates: HardwareRates) -> float | None:
        """Mean over scored trials; None where one is unknown."""
        costs = self.costs(with_rates, scored_only=True)
        known = [cost for cost in costs if cost is not None]
        return mean(known) if len(known) == len(costs) else None


def cell(harness: str, skill: str, dataset: str, slug: str) -> Cell:
    """The counted trials of a cell, by the slug of its model."""
    found = [
        stored
        for stored in committed()
        if stored.record.standing is Standing.COUNTED
        and stored.record.identity.cell.harness == harness
        and stored.record.identity.cell.skill == skill
        and stored.record.identity.cell.dataset == dataset
        and stored.record.identity.cell.model.slug == slug
    ]
    assert found, f"no trials of {harness}, {skill}, {dataset}, {slug}"
    return Cell(found)


def cell_of_file(path: Path) -> Cell:
    """The counted trials that were imported from ``path``."""
    source = read(path)["source"]
    found = [
        stored
        for stored in committed()
        if stored.record.source is not None
        and (stored.record.source.path, stored.record.source.commit) == (source["path"], source["commit"])
    ]
    assert found, f"no trials of {path.name}"
    return Cell(found)


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, None of nothing."""
    return sum(values) / len(values) if values else None


def total(values: Sequence[int | None]) -> int | None:
    """Sum, None where a value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def prints_as(value: float | None, printed: float | None, digits: int = 2) -> bool:
    """Whether ``value`` rounds to ``printed``; half a unit of the last digit either way, plus noise."""
    if value is None or printed is None:
        return value is printed
    return bool(abs(value - printed) <= 0.5 * 10**-digits + 1e-9)
