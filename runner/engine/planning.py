"""Planning: which trials will run, in which order, and what they may cost at most."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from runner.datasets import Dataset, Task
from runner.engine.blocks import Keys, in_blocks
from runner.engine.settings import RunSettings, settings_to_strings
from runner.errors import UsageError
from runner.harnesses.base import Harness
from runner.providers.base import Provider
from runner.records import CellIdentity, Fingerprint, ModelName, PlannedTrial, PlanRecord, TrialIdentity
from runner.skills import Skill
from runner.store import ResultsStore, model_slug, slug

MAX_TRIALS = 100_000
"""A plan is one file, which is written before the first trial and read again at every resume."""


@dataclass(frozen=True)
class Parts:
    """The resolved parts of a run: what the names in the settings stand for."""

    dataset: Dataset
    dataset_path: Path
    tasks: tuple[Task, ...]
    harnesses: dict[str, Harness]
    skills: dict[str, Skill]
    provider: Provider
    installed: Path


@dataclass(frozen=True)
class Group:
    """Cells that share their settings: every model x harness x skill of the settings on one dataset."""

    settings: RunSettings
    parts: Parts

    def cells(self) -> list[CellIdentity]:
        """The cells of the group."""
        settings, parts = self.settings, self.parts
        return [
            CellIdentity(
                model=ModelName(raw_id=model, slug=model_slug(model)),
                provider=parts.provider.name,
                effort=slug(settings.effort) if settings.effort else None,
                harness=harness,
                skill=skill,
                dataset=slug(parts.dataset.scope),
            )
            for model in settings.model
            for harness in parts.harnesses
            for skill in parts.skills
        ]


def by_cell(groups: Sequence[Group]) -> dict[tuple[str, ...], Group]:
    """The group of each cell.

    Raises:
        UsageError: two groups, or two models with one slug, would fill the same cell and be mixed.
    """
    found: dict[tuple[str, ...], Group] = {}
    for group in groups:
        for cell in group.cells():
            if cell.key in found:
                raise UsageError(
                    f"two models or entries fill the same cell: {' / '.join(cell.key)}",
                    remedy="leave one out, or run them one after the other",
                )
            found[cell.key] = group
    return found


def make_plan(
    groups: Sequence[Group], store: ResultsStore, *, now: datetime, keys: Keys | None = None
) -> PlanRecord:
    """The plan for ``groups``: every trial, in a seeded order that interleaves the cells.

    Trial numbers follow the highest one that any plan in the store has taken. The order is drawn in rounds:
    each round holds one trial of every cell and task, so that a cut run still has all cells alike. Models
    that take turns on a server (``keys``) have one block of trials each, in an order drawn as well.

    Raises:
        UsageError: two groups fill the same cell, or there are more trials than a plan can hold.
    """
    by_cell(groups)
    total = sum(map(size, groups))
    if total > MAX_TRIALS:
        raise UsageError(
            f"{total:,} trials are more than a plan holds, which is {MAX_TRIALS:,}",
            remedy="lower --trials, or plan fewer cells or tasks",
        )
    first = groups[0].settings
    taken, versions = _taken_numbers(store), Versions()
    generator = random.Random(first.seed)  # noqa: S311 - order of trials, no secret
    trials: list[PlannedTrial] = []
    for attempt in range(max(group.settings.trials for group in groups)):
        one_round = [
            _planned(cell, task, taken[(cell.key, task.id)] + attempt + 1, group.parts, versions)
            for group in groups
            if attempt < group.settings.trials
            for cell in group.cells()
            for task in group.parts.tasks
        ]
        generator.shuffle(one_round)
        trials += one_round
    ceiling, reason = cost_ceiling(groups)
    return PlanRecord(
        plan_id=_plan_id(groups, now),
        purpose="run",
        demonstration=groups[0].parts.provider.demonstration,
        created_at=now,
        harnessmark_version=version("harnessmark"),
        seed=first.seed,
        trials=in_blocks(trials, keys or {}, generator),
        limits=first.limits(),
        cost_ceiling_usd=ceiling,
        cost_ceiling_reason=reason,
        settings=settings_to_strings([group.settings for group in groups]),
    )


def size(group: Group) -> int:
    """How many trials a group plans."""
    return group.settings.trials * len(group.cells()) * len(group.parts.tasks)


def cost_ceiling(groups: Sequence[Group]) -> tuple[float | None, str]:
    """The most the run can cost in dollars, and why; None when nothing bounds it."""
    billed = [group for group in groups if not group.parts.provider.demonstration]
    if not billed:
        return 0.0, "the built-in model server bills nothing"
    bounds = []
    dear = [group.settings.max_cost_usd for group in billed]
    if all(cost is not None for cost in dear):
        total = sum((cost or 0.0) * size(group) for cost, group in zip(dear, billed, strict=True))
        each = f"${dear[0]:g} each" if len(set(dear)) == 1 else "what their entries allow"
        words = f"{sum(map(size, billed))} trials of at most {each}"
        if any(group.settings.max_retries + group.settings.max_topups for group in billed):
            words += ", top-ups and retries included"
        bounds.append((total, words))
    if (budget := groups[0].settings.budget_usd) is not None:
        bounds.append((budget, "the budget of the run; trials in flight may exceed it"))
    if not bounds:
        return None, "set --max-cost-usd per trial or --budget-usd for the run"
    return min(bounds)


def select_tasks(dataset: Dataset, names: Sequence[str], count: int) -> tuple[Task, ...]:
    """Tasks in dataset order: those named, or all; then the first ``count`` of them (0 = all).

    Raises:
        UsageError: an unknown task id, or none left.
    """
    known = {task.id for task in dataset.tasks}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(
            f"dataset {dataset.name} has no task {', '.join(unknown)}",
            remedy="its tasks are: " + ", ".join(task.id for task in dataset.tasks),
        )
    chosen = tuple(task for task in dataset.tasks if not names or task.id in names)
    return chosen[:count] if count else chosen


class Versions:
    """What installed programs say of themselves; each is asked once, however many trials it has."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, Path], str] = {}

    def of(self, harness: Harness, installed: Path) -> str:
        """The version of the program of ``harness``.

        Raises:
            ConfigurationError: it is not installed.
        """
        asked = (harness.name, installed)
        if asked not in self._said:
            self._said[asked] = harness.version(installed)
        return self._said[asked]


def fingerprint(identity: TrialIdentity, parts: Parts, versions: Versions) -> Fingerprint:
    """Digests and versions of what the trial is asked to do, as of now."""
    skill = parts.skills[identity.cell.skill]
    return Fingerprint(
        dataset_version=parts.dataset.version,
        dataset_digest=parts.dataset.digest(),
        task_digest=parts.dataset.task_by_id(identity.task).digest(),
        skill_version=skill.version,
        skill_digest=skill.digest,
        harness_version=versions.of(parts.harnesses[identity.cell.harness], parts.installed),
    )


def _planned(cell: CellIdentity, task: Task, number: int, parts: Parts, versions: Versions) -> PlannedTrial:
    identity = TrialIdentity(cell=cell, task=task.id, trial=number)
    return PlannedTrial(identity=identity, fingerprint=fingerprint(identity, parts, versions))


def _taken_numbers(store: ResultsStore) -> Counter[tuple[tuple[str, ...], str]]:
    """Highest trial number of each cell and task: a number is taken once planned, or when a folder has it."""
    taken: Counter[tuple[tuple[str, ...], str]] = Counter()
    for *cell, task, number in store.trial_keys():
        taken[(tuple(cell), task)] = max(taken[(tuple(cell), task)], int(number))
    for plan in store.plans():
        for planned in plan.trials:
            place = (planned.identity.cell.key, planned.identity.task)
            taken[place] = max(taken[place], planned.identity.trial)
    return taken


def _plan_id(groups: Sequence[Group], now: datetime) -> str:
    content = " ".join([now.isoformat(), *(group.settings.model_dump_json() for group in groups)])
    return f"run-{now:%Y%m%d-%H%M%S}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
