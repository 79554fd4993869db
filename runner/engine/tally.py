"""Tally: what a plan has come to so far, from the records of its finished trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runner.engine.grading import resolved, untested
from runner.engine.journal import FailedBlock
from runner.engine.spending import dollars_billed, spent_by
from runner.records import CheckRecord, Outcome, PlanRecord, TrialRecord
from runner.store import ResultsStore, StoredTrial

EXIT_DONE, EXIT_BELOW_THRESHOLD, EXIT_PARTIAL = 0, 2, 3


@dataclass(frozen=True)
class RunSummary:
    """How a run stands: what was planned, what is written, and what it cost at least."""

    plan_id: str
    planned: int
    finished: int
    outcomes: Mapping[str, int]
    resolved: int
    graded: int
    spent_usd: float
    """Of the trials whose cost is known."""
    unpriced: int
    """Trials that an agent worked on and whose cost is unknown."""
    untested: int = 0
    """Trials whose tasks have no hidden tests: nothing but a judge can tell whether they solved anything."""
    tokens: int = 0
    """Of the invocations whose usage is known."""
    failed: Sequence[FailedBlock] = ()
    """Models that could not be served; their trials are left."""
    not_judged: Mapping[str, str] = field(default_factory=dict)
    """Finished trials that judging failed on, with what failed."""
    reasons: Sequence[str] = ()
    """Why trials did not start."""

    def exit_code(self, fail_under: float | None) -> int:
        """0 done, 2 done but fewer resolved than asked, 3 trials or grades are missing or our side failed."""
        missing = (
            self.finished < self.planned or self.graded + self.untested < self.finished or self.not_judged
        )
        if missing or self.outcomes.get(Outcome.INFRASTRUCTURE):
            return EXIT_PARTIAL
        # 55 / 100 x 20 is a little more than 11 in binary; 55 x 20 is exact.
        if fail_under is not None and self.resolved * 100 < fail_under * self.planned:
            return EXIT_BELOW_THRESHOLD
        return EXIT_DONE


class Tally:
    """Counts finished trials, one by one."""

    def __init__(self, plan: PlanRecord) -> None:
        self.plan = plan
        self.finished = self.resolved = self.graded = self.untested = self.unpriced = self.tokens = 0
        self.spent = 0.0
        self.outcomes: Counter[str] = Counter()

    def add(self, trial: TrialRecord, checks: Sequence[CheckRecord]) -> None:
        """Count one finished trial."""
        verdict = False if trial.outcome is Outcome.CHEATING else resolved(tuple(checks))
        self.finished += 1
        self.outcomes[trial.outcome] += 1
        self.graded += verdict is not None
        self.resolved += verdict is True
        self.untested += verdict is None and untested(checks)
        self.tokens += spent_by(trial).tokens
        billed = dollars_billed(trial.costs)
        if billed is not None:
            self.spent += billed
        elif trial.invocations and not trial.demonstration:
            self.unpriced += 1

    def summary(
        self,
        *,
        failed: Sequence[FailedBlock] = (),
        not_judged: Mapping[str, str] | None = None,
        reasons: Sequence[str] = (),
    ) -> RunSummary:
        """The counts as a value."""
        return RunSummary(
            plan_id=self.plan.plan_id,
            planned=len(self.plan.trials),
            finished=self.finished,
            outcomes=dict(self.outcomes),
            resolved=self.resolved,
            graded=self.graded,
            untested=self.untested,
            spent_usd=self.spent,
            unpriced=self.unpriced,
            tokens=self.tokens,
            failed=tuple(failed),
            not_judged=dict(not_judged or {}),
            reasons=tuple(reasons),
        )


def stored_trials(plan: PlanRecord, store: ResultsStore) -> Iterator[tuple[int, StoredTrial]]:
    """Finished trials of ``plan`` with their position."""
    for position, planned in enumerate(plan.trials):
        if store.has_trial(planned.identity):
            yield position, store.trial(planned.identity)
