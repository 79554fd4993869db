"""Keeping: a finished trial goes into the store, or into quarantine, or is left for the next runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runner.engine.attempt import Attempt, clear
from runner.engine.auditing import void, void_found
from runner.engine.places import Places
from runner.engine.quarantine import Quarantine
from runner.errors import SecretFound
from runner.records import Outcome, PlanRecord
from runner.store import ResultsStore


def is_left(result: Attempt) -> bool:
    """Whether the next runner needs the scratch folder: the trial was stopped after an agent had worked."""
    return result.trial.outcome is Outcome.CANCELLED and bool(result.trial.invocations)


def clear_written(plan: PlanRecord, places: Places, store: ResultsStore) -> None:
    """Remove what scratch folders and quarantine still hold of trials whose record a killed runner wrote."""
    quarantine = Quarantine(places.quarantine)
    for position in written_last(plan, places, store):
        void_found(store, plan.trials[position].identity)
        clear(places.scratch(plan.plan_id, position))
        quarantine.forget(plan.plan_id, position)


def written_last(plan: PlanRecord, places: Places, store: ResultsStore) -> Iterator[int]:
    """Positions of trials that are in the store and elsewhere too: their runner was killed soon after."""
    quarantine = Quarantine(places.quarantine)
    for position, planned in enumerate(plan.trials):
        elsewhere = places.scratch(plan.plan_id, position).exists() or quarantine.has(plan.plan_id, position)
        if elsewhere and store.has_trial(planned.identity):
            yield position


def keep(result: Attempt, places: Places, store: ResultsStore, note: Callable[[str], None]) -> bool:
    """Write a finished trial, or hold it where it holds a secret; whether it was written.

    Raises:
        StoreError: the store cannot be written.
    """
    try:
        trial = result.trial
        store.write_trial(trial, checks=result.checks, artifacts=result.artifacts, scans=result.scans)
        for scan in result.scans:
            void(store, trial.plan_id, trial.identity, scan, trial.outcome)
    except SecretFound as found:
        folder = Quarantine(places.quarantine).hold(result, found)
        shown = folder.relative_to(places.root)
        note(
            f"{found.message()}\n  the finished trial is kept whole in {shown}; resume the plan "
            f"to write it once it may be, or delete that folder to run it again"
        )
        return False
    return True


def release_held(
    plan: PlanRecord, places: Places, store: ResultsStore, note: Callable[[str], None]
) -> set[int]:
    """Write what an earlier run held and may be written now; positions of what is still held."""
    held = set()
    quarantine = Quarantine(places.quarantine)
    for position, planned in enumerate(plan.trials):
        if not store.has_trial(planned.identity):
            reason = quarantine.release(plan.plan_id, position, planned, store)
            if reason is not None:
                held.add(position)
                note(f"trial {position} is in quarantine and not run again: {reason}")
    return held
