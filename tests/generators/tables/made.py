"""Made cells: stores with trials of given scores, costs and states, written and read through ResultsStore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from generators.tables.aliases import ModelAliases, load_model_aliases
from generators.tables.cells import Cell, build_cells
from runner.costs.bases import Pricing
from runner.costs.hardware import HardwareRates
from runner.costs.instances import InstancePrices, load_instance_prices
from runner.costs.price_book import PriceBook
from runner.costs.price_choice import PriceChoice
from runner.engine.auditing import void
from runner.records import (
    Artifact,
    ArtifactScore,
    ArtifactState,
    CellIdentity,
    CheckPurpose,
    CheckRecord,
    CheckStatus,
    Cost,
    CostBasis,
    DataWarning,
    Fingerprint,
    Hosting,
    IntegrityRecord,
    JudgementRecord,
    JudgementStatus,
    Outcome,
    Serving,
    Standing,
    TrialIdentity,
    TrialRecord,
    sha256_of,
)
from runner.secrets import Hit, Scanner
from runner.store import ResultsStore, StoredTrial
from tests import examples

ROOT = Path(__file__).resolve().parents[3]
RUBRIC = "implementation-1"


@dataclass(frozen=True)
class Made:
    """One trial to make. ``points`` are the four criteria of its only artifact; None is not judged."""

    task: str = "task-a"
    points: tuple[int, int, int, int] | None = (19, 14, 22, 20)
    cost: float | None = 0.25
    basis: CostBasis = CostBasis.METERED
    trial: int = 1
    status: JudgementStatus = JudgementStatus.SCORED
    rubric: str = RUBRIC
    outcome: Outcome = Outcome.COMPLETED
    standing: Standing = Standing.COUNTED
    digest: str | None = None
    checks: tuple[CheckStatus, ...] = ()
    purpose: CheckPurpose = CheckPurpose.HIDDEN
    cell: CellIdentity = field(default_factory=examples.cell)
    warnings: tuple[DataWarning, ...] = ()
    tails: tuple[str, ...] = ()
    """Output of the checks, in their order; a check without one keeps the example's."""
    scans: tuple[IntegrityRecord, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=lambda: {"implementation.md": examples.NOTE})
    changes: dict[str, object] = field(default_factory=dict)

    @property
    def identity(self) -> TrialIdentity:
        """Which trial this is."""
        return TrialIdentity(cell=self.cell, task=self.task, trial=self.trial)

    def record(self) -> TrialRecord:
        """The trial record."""
        reason = None if self.cost is not None else "the gateway did not say"
        changes: dict[str, object] = {
            "costs": (Cost(basis=self.basis, amount_usd=self.cost, source="gateway", missing_reason=reason),),
            "outcome": self.outcome,
            "standing": self.standing,
            "standing_reason": None if self.standing is Standing.COUNTED else "replaced",
            "fingerprint": Fingerprint(dataset_digest=self.digest),
            "warnings": self.warnings,
            "serving": Serving(hosting=Hosting.CLOUD),
            "artifacts": tuple(
                Artifact(
                    name=name,
                    state=ArtifactState.PRESENT,
                    sha256=sha256_of(content),
                    size_bytes=len(content),
                )
                for name, content in self.files.items()
            ),
            **self.changes,
        }
        return examples.trial(self.identity).model_copy(update=changes)

    def judgements(self) -> tuple[JudgementRecord, ...]:
        """The judgement, unless the trial was not judged."""
        if self.points is None:
            return ()
        score = ArtifactScore(
            completeness=self.points[0],
            correctness=self.points[1],
            specificity=self.points[2],
            risk_awareness=self.points[3],
            total=sum(self.points),
        )
        invalid = self.status is JudgementStatus.INVALID
        return (
            examples.judgement(self.identity).model_copy(
                update={
                    "rubric": self.rubric,
                    "status": self.status,
                    "scores": None if invalid else {"implementation": score},
                    "task_score": None if invalid else float(score.total),
                    "invalid_reason": "no JSON object" if invalid else None,
                }
            ),
        )

    def check_records(self) -> tuple[CheckRecord, ...]:
        """One check record for each status."""
        found = []
        for place, status in enumerate(self.checks):
            changes: dict[str, object] = {
                "name": f"check-{place}",
                "status": status,
                "purpose": self.purpose,
            }
            if place < len(self.tails):
                changes["output_tail"] = self.tails[place]
            found.append(examples.check(self.identity).model_copy(update=changes))
        return tuple(found)


def prices() -> InstancePrices:
    """The shipped price list."""
    return load_instance_prices(ROOT / "datasets" / "prices" / "instances.yaml")


def aliases() -> ModelAliases:
    """The shipped table of model names."""
    return load_model_aliases(ROOT / "datasets" / "models" / "aliases.yaml")


def rates() -> HardwareRates:
    """Rates of the one example sweep."""
    return HardwareRates([examples.sweep()], prices())


def pricing(book: PriceBook | None = None) -> Pricing:
    """The rates of the one example sweep, and an empty price book unless one is given."""
    return Pricing(book or PriceBook(), rates())


class Blind(Scanner):
    """Finds nothing: hostile text may look like a secret, and pages are tested with all of it."""

    def find(self, data: bytes) -> list[Hit]:
        """No hit, whatever the data."""
        return []


def write(root: Path, trials: Sequence[Made], planned: Sequence[TrialIdentity] = ()) -> ResultsStore:
    """A store at ``root`` with these trials; ``planned`` adds trials to the plan that never ran."""
    store = ResultsStore(root, scanner=Blind())
    store.write_plan(examples.plan(*(made.identity for made in trials), *planned))
    for made in trials:
        store.write_trial(
            made.record(),
            judgements=made.judgements(),
            checks=made.check_records(),
            scans=made.scans,
            artifacts=made.files,
        )
        for scan in made.scans:
            void(store, made.record().plan_id, made.identity, scan, made.record().outcome)
    return store


def cells(root: Path, trials: Sequence[Made], planned: Sequence[TrialIdentity] = ()) -> list[Cell]:
    """Cells of such a store."""
    store = write(root, trials, planned)
    return build_cells(store.trials(), store.plans(), pricing(), {})


def one_cell(root: Path, *trials: Made, planned: Sequence[TrialIdentity] = ()) -> Cell:
    """The only cell of such a store."""
    (cell,) = cells(root, trials, planned)
    return cell


def committed() -> list[Cell]:
    """Cells of the committed store."""
    return list(_committed())


@cache
def _committed() -> tuple[Cell, ...]:
    store = ResultsStore(ROOT / "results")
    everything = PriceChoice().pricing(ROOT / "datasets", store.sweeps())
    return tuple(build_cells(store.trials(), store.plans(), everything, {}))


def stored(root: Path, made: Made) -> StoredTrial:
    """The trial as the store reads it back."""
    return next(iter(write(root, [made]).trials()))
