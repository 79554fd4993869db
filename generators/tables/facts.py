"""TrialFacts: one trial reduced to what the figures need, each value derived once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from generators.tables.scoring import VOID, ScoreState, score_state
from generators.tables.yardstick import Yardstick, counted_judgements
from runner.costs.bases import Pricing, TrialCosts, costs_of, day_of
from runner.costs.tokens import tokens_processed
from runner.records import ArtifactState, CheckStatus, Cost, CostBasis, JudgementRecord, TrialRecord
from runner.store import StoredTrial

GRADED = frozenset({CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.TIMEOUT, CheckStatus.NOT_RUN})


@dataclass(frozen=True)
class TrialFacts:
    """One trial. Unknown values are None; ``state`` decides which figures it enters."""

    stored: StoredTrial
    judgements: tuple[JudgementRecord, ...]
    """Those that count: valid, by one judge and one rubric; the score is their mean."""
    state: ScoreState
    state_reason: str
    costs: TrialCosts
    """Every way to know what it cost."""
    tokens: int | None
    minutes: float | None
    checks_passed: int | None
    checks_graded: int | None
    checks_tell: bool
    """Whether hidden tests are among the checks, and every check came to a verdict."""
    complexity: str | None

    @property
    def record(self) -> TrialRecord:
        """The trial record itself."""
        return self.stored.record

    @property
    def task(self) -> str:
        """Task id."""
        return self.record.identity.task

    @property
    def score(self) -> float | None:
        """Judge score, 0..100, of a scored trial: the mean of its judgements; None for every other state."""
        if self.state is not ScoreState.SCORED:
            return None
        scores = [each.task_score for each in self.judgements if each.task_score is not None]
        return sum(scores) / len(scores) if scores else None

    @property
    def judgement(self) -> JudgementRecord | None:
        """The newest judgement that counts."""
        return self.judgements[-1] if self.judgements else None

    @property
    def resolved(self) -> bool | None:
        """Whether every execution check passed, never of a void trial.

        None where no hidden tests tell whether the problem is solved, or a check never came to a verdict.
        """
        if self.state is ScoreState.EXCLUDED or not self.checks_graded or not self.checks_tell:
            return None
        return self.checks_passed == self.checks_graded and self.record.outcome not in VOID

    @property
    def own_run(self) -> bool:
        """Whether the record tells how the trial went, as every run made here does; imports hold figures."""
        record = self.record
        present = any(artifact.state is ArtifactState.PRESENT for artifact in record.artifacts)
        return bool(record.invocations or self.stored.checks or present)

    @property
    def cost(self) -> Cost:
        """What it cost by the headline rule."""
        return self.costs.headline

    def cost_on(self, basis: CostBasis | None) -> Cost | None:
        """Its known cost on ``basis``, the headline before the others; None where that is not known.

        "None by design" is no figure: it can neither be cheap nor dear.
        """
        if basis is None or basis is CostBasis.NONE:
            return None
        cost = self.costs.on(basis)
        return cost if cost is not None and cost.amount_usd is not None else None

    @property
    def free_by_design(self) -> bool:
        """Whether no cost arises, as with the built-in model server."""
        return self.cost.basis is CostBasis.NONE

    @property
    def run_date(self) -> date | None:
        """The day the trial ran, as far as the record or its source tells."""
        return day_of(self.record)


def derive_facts(
    stored: StoredTrial,
    pricing: Pricing,
    yardstick: Yardstick | None,
    complexity: str | None,
    excluded: str = "",
) -> TrialFacts:
    """Facts of one trial.

    Args:
        stored: the trial with its judgements and checks.
        pricing: the prices at which costs are worked out.
        yardstick: judge and rubric whose judgements count in the trial's cell.
        complexity: tier of the task in its dataset; the published tier is used where the dataset has none.
        excluded: reason why the trial enters no figure although its own record counts it.
    """
    record = stored.record
    judgements = counted_judgements(stored, yardstick)
    state, reason = score_state(record, judgements)
    if excluded and state is not ScoreState.EXCLUDED:
        state, reason = ScoreState.EXCLUDED, excluded
    graded = latest_checks(stored)
    published = record.published
    return TrialFacts(
        stored=stored,
        judgements=judgements,
        state=state,
        state_reason=reason,
        costs=costs_of(record, pricing),
        tokens=tokens_processed(record.usage) if record.usage is not None else None,
        minutes=record.duration_seconds / 60 if record.duration_seconds is not None else None,
        checks_passed=sum(status is CheckStatus.PASSED for status in graded.values()) if graded else None,
        checks_graded=len(graded) if graded else None,
        checks_tell=_tell(stored, graded),
        complexity=complexity or (published.complexity if published else None),
    )


def _tell(stored: StoredTrial, graded: Mapping[str, CheckStatus]) -> bool:
    return any(check.tells for check in stored.checks) and all(
        check.name in graded for check in stored.checks
    )


def latest_checks(stored: StoredTrial) -> dict[str, CheckStatus]:
    """Latest gradable status of each check by name; our own errors (``error``) grade nothing."""
    latest: dict[str, CheckStatus] = {}
    for check in sorted(stored.checks, key=lambda check: (check.name, check.number)):
        if check.status in GRADED:
            latest[check.name] = check.status
    return latest
