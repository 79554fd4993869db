"""Resuming: finds the plan to go on with, and refuses when what it asks for has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.engine.keeping import written_last
from runner.engine.places import Places
from runner.engine.planning import Group, Versions, by_cell, fingerprint
from runner.engine.settings import RunSettings, settings_from_strings
from runner.engine.unjudged import unjudged, unsettled
from runner.errors import ConfigurationError, StoreError, UsageError
from runner.records import PlanRecord
from runner.store import ResultsStore


def find_plan(
    plan_id: str | None, places: Places, flags: Mapping[str, object] | None = None
) -> tuple[PlanRecord, ResultsStore]:
    """The plan of that id, or the newest unfinished one, with the store it belongs to.

    Where none is unfinished, the newest one counts that is so with ``flags``.

    Args:
        flags: settings that were given beside those of the plan, such as other judges.

    Raises:
        UsageError: there is no such plan, or nothing is unfinished.
    """
    if plan_id is not None:
        return find_any_plan(plan_id, places)
    candidates = all_plans(places)
    newest_first = sorted(candidates, key=_age, reverse=True)
    for plan, store in newest_first:
        if is_unfinished(plan, store, places):
            return plan, store
    for plan, store in newest_first if any(value is not None for value in (flags or {}).values()) else ():
        if unjudged(plan, store, places, flags):
            return plan, store
    raise UsageError("no plan is unfinished", remedy="start a run with: invoke run")


def find_any_plan(plan_id: str | None, places: Places) -> tuple[PlanRecord, ResultsStore]:
    """The plan of that id, or the newest one, finished or not, with the store it belongs to.

    Raises:
        UsageError: there is no such plan, or none at all.
    """
    candidates = all_plans(places)
    if plan_id is None and candidates:
        return max(candidates, key=_age)
    for plan, store in candidates:
        if plan.plan_id == plan_id:
            return plan, store
    known = ", ".join(plan.plan_id for plan, _ in candidates) or "none"
    what = "there is no plan yet" if plan_id is None else f"there is no plan {plan_id}"
    raise UsageError(what, remedy=f"known plans: {known}")


def all_plans(places: Places) -> list[tuple[PlanRecord, ResultsStore]]:
    """Every plan of a run with the store it belongs to."""
    return [
        (plan, store)
        for root in places.roots().existing()
        for store in (ResultsStore(root),)
        for plan in store.plans()
        if plan.purpose == "run"
    ]


def _age(found: tuple[PlanRecord, ResultsStore]) -> tuple[str, str]:
    return str(found[0].created_at), found[0].plan_id


def pending(plan: PlanRecord, store: ResultsStore) -> int:
    """How many trials of ``plan`` have no record yet."""
    return sum(not store.has_trial(planned.identity) for planned in plan.trials)


def is_unfinished(plan: PlanRecord, store: ResultsStore, places: Places) -> bool:
    """Whether a trial of ``plan`` is left to run, to be judged by the judges it names, or to be put away.

    A runner that was killed once a trial was in the store may not have listed it, or not have said that it
    is void; its scratch folder, or its folder in quarantine, goes last. Of a judgement its journal does.
    """
    return bool(
        pending(plan, store)
        or any(True for _ in written_last(plan, places, store))
        or places.scratch(plan.plan_id, 0).parent.exists()
        or unjudged(plan, store, places)
        or unsettled(plan, store, places)
    )


def settings_of(plan: PlanRecord) -> tuple[RunSettings, ...]:
    """The settings ``plan`` was made with, group by group."""
    return settings_from_strings(plan.settings)


def require_unchanged(plan: PlanRecord, groups: Sequence[Group], store: ResultsStore) -> None:
    """Check that what is left of ``plan`` still means the same.

    Raises:
        ConfigurationError: dataset, task, skill or harness version differ from the plan: its trials would
            not be comparable with each other.
    """
    changed: set[str] = set()
    group_of, versions = by_cell(groups), Versions()
    for planned in plan.trials:
        if store.has_trial(planned.identity):
            continue
        now = fingerprint(planned.identity, group_of[planned.identity.cell.key].parts, versions)
        changed |= {
            name
            for name in type(now).model_fields
            if getattr(now, name) != getattr(planned.fingerprint, name)
        }
    if changed:
        raise ConfigurationError(
            f"since plan {plan.plan_id} was made, these have changed: {', '.join(sorted(changed))}",
            remedy="restore them to finish this plan, or start a new run; figures of both are never mixed",
        )


def require_undamaged(plan: PlanRecord, store: ResultsStore) -> None:
    """Check that no finished trial of ``plan`` has lost its record: running it again could not be written.

    Raises:
        StoreError: one has.
    """
    damaged = store.damaged(plan)
    if damaged:
        raise StoreError(
            f"{len(damaged)} of the finished trials of plan {plan.plan_id} are damaged or deleted",
            where="/".join(damaged[0].key),
            remedy="invoke verify names the files; restore them from git, or start a new run",
        )
