"""Populations: tables of systems x tasks whose true means are known, to draw samples from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from generators.statistics.simulation.structure import (
    CheckStructure,
    JudgeStructure,
    Structure,
    abilities,
)
from generators.statistics.verdict import Kind
from runner.errors import ConfigurationError

Floats = NDArray[np.float64]
JUDGE_CELLS, JUDGE_TASKS = 400, 1000
SIDECAR = "instance_results/swe-bench.json"


@dataclass(frozen=True)
class Population:
    """Results of systems on tasks, all of them; samples are drawn from it with replacement."""

    name: str
    kind: Kind
    source: str
    scores: Floats
    """Systems x tasks, 0 to 100."""
    costs: Floats
    """Systems x tasks, dollars."""

    @cached_property
    def true_scores(self) -> Floats:
        """Mean of each system over all tasks."""
        means: Floats = self.scores.mean(axis=1)
        return means

    @cached_property
    def true_costs(self) -> Floats:
        """Mean cost of each system over all tasks."""
        means: Floats = self.costs.mean(axis=1)
        return means


def made_populations(structure: Structure, seed: int) -> tuple[Population, ...]:
    """The two populations that are drawn from stored structure."""
    return made_checks(structure.checks, seed), made_judge_scores(structure.judge, seed)


def made_checks(structure: CheckStructure, seed: int) -> Population:
    """Passes and failures under the Rasch model, costs log-normal with a part that all systems share."""
    generator = np.random.default_rng(seed)
    rates = np.array([system.rate for system in structure.systems])
    spreads = np.array([system.log_cost_spread for system in structure.systems])
    levels = np.array([system.log_cost for system in structure.systems])
    difficulty = structure.difficulty_spread * generator.standard_normal(structure.tasks)
    chances = special.expit(abilities(rates, structure.difficulty_spread)[:, None] - difficulty)
    shape = (len(rates), structure.tasks)
    shared = structure.shared_cost**0.5 * generator.standard_normal(structure.tasks)
    own = (1 - structure.shared_cost) ** 0.5 * generator.standard_normal(shape)
    costs = np.exp(levels[:, None] + spreads[:, None] * (shared + own))
    scores = 100.0 * (generator.random(shape) < chances)
    return Population("made checks", Kind.CHECK, structure.source, scores, costs)


def made_judge_scores(structure: JudgeStructure, seed: int) -> Population:
    """Judge scores of many cells with the stored spreads; the rest has the stored shape."""
    generator = np.random.default_rng(seed)
    shape = (JUDGE_CELLS, JUDGE_TASKS)
    cells = structure.cell_spread * generator.standard_normal(JUDGE_CELLS)
    tasks = structure.task_spread * generator.standard_normal(JUDGE_TASKS)
    steps = np.linspace(0, 1, len(structure.rest_shape))
    drawn = np.interp(generator.random(shape), steps, structure.rest_shape)
    # Straight lines between quantiles leave out some of the spread.
    rest = structure.rest_spread * drawn / drawn.std()
    scores = np.clip(structure.mean + cells[:, None] + tasks + rest, 0, 100)
    level = structure.log_cost_slope * cells + structure.log_cost_spread * generator.standard_normal(
        JUDGE_CELLS
    )
    task_part = structure.log_cost_task_spread * generator.standard_normal(JUDGE_TASKS)
    rest_part = structure.log_cost_rest_spread * generator.standard_normal(shape)
    costs = np.exp(level[:, None] + task_part + rest_part)
    return Population("made judge scores", Kind.SCORE, structure.source, scores, costs)


def public_table(folder: Path, source: str) -> Population:
    """A public table of results, from a copy of the repository that publishes it.

    Every ``instance_results/swe-bench.json`` below ``folder`` is one system: an object of tasks, each with
    ``resolved`` and ``cost``. Tasks that all systems have are kept; an answer that is null is not resolved. A
    system whose costs are all zero is left out, for its cost is unknown.

    Args:
        folder: the copy; nothing of it is kept.
        source: what to name it, such as the repository, its commit and its licence.

    Raises:
        ConfigurationError: there is no such table below the folder, or a file is not one.
    """
    files = sorted(path for path in folder.rglob("swe-bench.json") if path.as_posix().endswith(SIDECAR))
    read = [_sidecar(path) for path in files]
    systems = [system for system in read if any(cost > 0 for _, cost in system.values())]
    tasks = sorted(set.intersection(*(set(system) for system in systems))) if systems else []
    if len(systems) < 2 or not tasks:
        raise ConfigurationError(
            "no table of results is below this folder",
            where=str(folder),
            remedy=f"name a copy with files such as <system>/{SIDECAR}",
        )
    scores = np.array([[100.0 * system[task][0] for task in tasks] for system in systems])
    costs = np.array([[system[task][1] for task in tasks] for system in systems])
    return Population("public table", Kind.CHECK, source, scores, costs)


def _sidecar(path: Path) -> dict[str, tuple[bool, float]]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return {task: (bool(entry["resolved"]), float(entry["cost"] or 0.0)) for task, entry in read.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(
            f"is no table of results: {error!r}",
            where=str(path),
            remedy="name a whole copy of the repository",
        ) from None
