"""Storage: whether results can be written, and whether a plan over the same cells waits to be finished."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.disk import existing
from runner.engine.resuming import pending
from runner.errors import StoreError
from runner.providers.checks import Check, CheckState
from runner.records import PlanRecord
from runner.store import ResultsStore


def storage_checks(
    groups: Sequence[Group], store: ResultsStore, places: Places, resumed: PlanRecord | None = None
) -> Iterator[Check]:
    """Both folders can be written to; plans are whole; one that is unfinished is offered.

    Args:
        resumed: the plan that is to be gone on with.
    """
    for folder in (store.root, places.artifacts):
        yield _writable(folder, places.root)
    try:
        plans = list(store.plans())
        yield from _damage(resumed, store) if resumed else _unfinished(groups, plans, store)
    except StoreError as error:
        yield Check("plans", CheckState.FAIL, f"{error.what} ({error.where})", "invoke verify")


def _writable(folder: Path, root: Path) -> Check:
    there = existing(folder)
    shown = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)
    if not there.is_dir():
        return Check("folder", CheckState.FAIL, f"{shown} is no folder", f"move {shown} away")
    if not os.access(there, os.W_OK | os.X_OK):
        held = there.relative_to(root).as_posix() if there.is_relative_to(root) else str(there)
        return Check("folder", CheckState.FAIL, f"{shown} cannot be written to", f"chmod u+rwx {held}")
    return Check("folder", CheckState.PASS, f"{shown} can be written to")


def _damage(plan: PlanRecord, store: ResultsStore) -> Iterator[Check]:
    damaged = store.damaged(plan)
    if damaged:
        found = f"{len(damaged)} of the finished trials of plan {plan.plan_id} are damaged or deleted"
        yield Check("plans", CheckState.FAIL, found, "invoke verify")
    else:
        left = pending(plan, store)
        yield Check("plans", CheckState.PASS, f"plan {plan.plan_id} is whole, {left} trials are left")


def _unfinished(groups: Sequence[Group], plans: Sequence[PlanRecord], store: ResultsStore) -> Iterator[Check]:
    """Plans that hold trials of the same cells and tasks which have no record yet."""
    wanted = {(cell.key, task.id) for group in groups for cell in group.cells() for task in group.parts.tasks}
    found = False
    for plan in plans:
        left = [
            planned
            for planned in plan.trials
            if (planned.identity.cell.key, planned.identity.task) in wanted
            and not store.has_trial(planned.identity)
        ]
        if left and plan.purpose == "run":
            found = True
            words = f"plan {plan.plan_id} over these cells has {pending(plan, store)} trials left"
            fix = "invoke verify" if store.damaged(plan) else f"invoke run --resume {plan.plan_id}"
            yield Check("plans", CheckState.WARN, words, fix)
    if not found:
        yield Check("plans", CheckState.PASS, "no plan over these cells is unfinished")
