"""Resume flags: which flags may stand beside ``--resume``, and whether each has something to act on."""

from __future__ import annotations

from collections.abc import Mapping

from runner.engine.judging.probe import named
from runner.engine.judging.settings import read_judge_settings
from runner.engine.judging_choice import wants_judges
from runner.engine.places import Places
from runner.engine.resuming import pending
from runner.engine.settings import RunSettings, changed, settings_from_strings
from runner.errors import UsageError
from runner.records import PlanRecord
from runner.store import ResultsStore

OF_TRIALS = frozenset({"concurrency", "cell_budget_usd", "cell_budget_tokens", "cell_budget_seconds"})
"""Bound the trials that run; judging has limits of its own."""
OF_JUDGING = frozenset({"judge", "judge_concurrency"})
RESUMABLE = (
    OF_TRIALS
    | OF_JUDGING
    | {"budget_usd", "budget_tokens", "budget_seconds", "fail_under"}
    | {"max_hours", "end_hours", "notify", "judge_mode"}
)
"""Settings that do not change what is measured."""


def require_resumable(flags: Mapping[str, object], others: Mapping[str, object], places: Places) -> None:
    """Check what can be known to be wrong with flags beside ``--resume`` before a plan is looked for.

    Args:
        flags: settings by name; None where one was not given.
        others: flags that are no settings and that a resumed run does not take; falsy where not given.

    Raises:
        UsageError: one would change what is measured, or there is no such judge.
        ConfigurationError: one has a value that it cannot have.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    foreign = sorted(given.keys() - RESUMABLE) + [name for name, value in others.items() if value]
    if foreign:
        raise UsageError(
            f"a resumed run keeps the settings of its plan; {dashed(*foreign)} cannot change",
            where="--resume",
            remedy="leave it out, or start a new run with it",
        )
    for judge in changed(RunSettings(), given).judge:
        read_judge_settings(*named(judge, places, {}))


def require_effect(plan: PlanRecord, store: ResultsStore, flags: Mapping[str, object]) -> None:
    """Check that each flag beside ``--resume`` has something to act on in what is left of ``plan``.

    Raises:
        UsageError: one has nothing, and would be ignored.
    """
    given = {name for name, value in flags.items() if value is not None}
    settings, of_judging = changed(settings_from_strings(plan.settings)[0], flags), given & OF_JUDGING
    if of_judging and not wants_judges(settings):
        skips = settings.judge_mode == "skip"
        why = "its judges are skipped" if skips else "it has no judge"
        raise UsageError(
            f"{dashed(*sorted(of_judging))} would change nothing: {why}",
            where=f"plan {plan.plan_id}",
            remedy="add --judge-mode async" if skips else "name one with --judge, or leave it out",
        )
    idle = sorted(given & OF_TRIALS)
    if idle and not pending(plan, store):
        raise UsageError(
            f"{dashed(*idle)} would change nothing: every trial has been run",
            where=f"plan {plan.plan_id}",
            remedy="leave it out; --judge-concurrency, --budget-usd and --budget-tokens bound judging",
        )


def dashed(*names: str) -> str:
    """Settings as the flags that a user types."""
    return ", ".join("--" + name.replace("_", "-") for name in names)
