"""Reconciliation tables: how far the ways to know each cost agree, for every trial and cell of a world."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from generators.tables.cells import Cell, CellKey
from generators.tables.facts import TrialFacts
from runner.costs.bases import Pricing
from runner.costs.cell_reconciliation import (
    CellReconciliation,
    failed_tasks,
    other_hourly_rate,
    reconcile_cell,
)
from runner.costs.disagreement import Agreement, Reason
from runner.costs.evidence import Evidence, usd_per_credit
from runner.costs.hardware import HardwareRate
from runner.costs.price_lists import Followed, followed_list, known_lists
from runner.costs.reconciliation import Note, TrialReconciliation, reconcile_trial
from runner.records import CostBasis, ThroughputRecord

AgentKey = tuple[str, str, str]
"""Harness, provider and model slug: what decides which price list an agent applies."""


@dataclass(frozen=True)
class ReconciledTrial:
    """One trial with its cell and what the comparison found."""

    cell: Cell
    trial: TrialFacts
    found: TrialReconciliation


@dataclass(frozen=True)
class ReconciledCell:
    """One cell; its sums are over the trials that count, or where none does over all of them."""

    cell: Cell
    found: CellReconciliation
    trials: tuple[ReconciledTrial, ...]
    """All recorded trials, those left out of the sums, too."""


@dataclass(frozen=True)
class Reconciled:
    """All cells of a world, in order of their keys."""

    cells: tuple[ReconciledCell, ...]

    def cell(self, cell: Cell) -> CellReconciliation | None:
        """What was found for a cell; None for a cell of another world."""
        found = self._by_key.get(cell.key)
        return found.found if found else None

    def trial(self, trial: TrialFacts) -> TrialReconciliation | None:
        """What was found for a trial; None for a trial of another world."""
        found = self._by_key.get(trial.record.identity.cell.key)
        mine = (each for each in found.trials if each.trial is trial) if found else iter(())
        return next((each.found for each in mine), None)

    @cached_property
    def trials(self) -> tuple[ReconciledTrial, ...]:
        """All trials of all cells."""
        return tuple(trial for cell in self.cells for trial in cell.trials)

    def agreements(self) -> dict[Agreement, tuple[int, int]]:
        """Number of trials and of cells at each agreement."""
        trials = Counter(each.found.agreement for each in self.trials)
        cells = Counter(each.found.agreement for each in self.cells)
        return {level: (trials[level], cells[level]) for level in Agreement}

    def classes(self) -> dict[Reason, tuple[int, int, int]]:
        """For each class that occurs: trials it applies to, those of them beyond 5 %, and cells."""
        trials, beyond = Counter[Reason](), Counter[Reason]()
        cells: dict[Reason, set[CellKey]] = defaultdict(set)
        for each in self.trials:
            for reason in each.found.reasons:
                trials[reason] += 1
                beyond[reason] += each.found.beyond
                cells[reason].add(each.cell.key)
        for whole in self.cells:
            for note in whole.found.notes:
                cells[note.reason].add(whole.cell.key)
        return {
            reason: (trials[reason], beyond[reason], len(cells[reason])) for reason in Reason if cells[reason]
        }

    @cached_property
    def _by_key(self) -> Mapping[CellKey, ReconciledCell]:
        return {each.cell.key: each for each in self.cells}


def reconcile(cells: Sequence[Cell], pricing: Pricing, sweeps: Iterable[ThroughputRecord] = ()) -> Reconciled:
    """Compare the ways to know each cost of these cells.

    Args:
        cells: cells of one world.
        pricing: the prices at which their costs were worked out.
        sweeps: throughput sweeps, for the hourly rate that a source used.
    """
    lists = _followed(cells, pricing)
    rates = {(sweep.deployment.name, sweep.sweep_id): sweep.hourly_usd_in_source for sweep in sweeps}
    found = []
    for cell in cells:
        trials = tuple(
            ReconciledTrial(cell, trial, reconcile_trial(_evidence(trial, pricing, lists)))
            for trial in cell.trials
        )
        counted = trials[: len(cell.counted)] or trials
        notes = tuple(note for note in (_failed(cell), _hourly(cell, pricing, rates)) if note is not None)
        found.append(ReconciledCell(cell, reconcile_cell([each.found for each in counted], notes), trials))
    return Reconciled(tuple(found))


def _agent(trial: TrialFacts) -> AgentKey:
    cell = trial.record.identity.cell
    return cell.harness, cell.provider, cell.model.slug


def _followed(cells: Sequence[Cell], pricing: Pricing) -> dict[AgentKey, Followed | None]:
    """The price list that the dollars of each agent and model follow."""
    grouped: dict[AgentKey, list[TrialFacts]] = defaultdict(list)
    for cell in cells:
        for trial in cell.trials:
            grouped[_agent(trial)].append(trial)
    found: dict[AgentKey, Followed | None] = {}
    for key, members in grouped.items():
        charges = [charge for each in members for charge in Evidence(each.record, each.costs).charges]
        raw_ids = sorted({each.record.identity.cell.model.raw_id for each in members})
        lists = [each for raw_id in raw_ids for each in known_lists(pricing.book, key[1], raw_id)]
        found[key] = followed_list(charges, lists) if charges else None
    return found


def _evidence(trial: TrialFacts, pricing: Pricing, lists: Mapping[AgentKey, Followed | None]) -> Evidence:
    rate = usd_per_credit(trial.record, pricing)
    return Evidence(trial.record, trial.costs, lists.get(_agent(trial)), rate)


def _failed(cell: Cell) -> Note | None:
    """Whether the spend over all trials holds failed or unscored ones that the mean leaves out."""
    spent, graded = (
        sum(cost.amount_usd or 0.0 for trial in trials if (cost := cell.cost_of(trial)) is not None)
        for trials in (cell.counted, cell.sample.graded)
    )
    return failed_tasks(spent, graded)


def _hourly(cell: Cell, pricing: Pricing, rates: Mapping[tuple[str, str], float | None]) -> Note | None:
    """Whether the sweep that prices the cell was priced at another hourly rate by its source."""
    if cell.basis is not CostBasis.HARDWARE_DERIVED:
        return None
    rate = pricing.rates.rate_for(cell.identity.model.slug)
    if not isinstance(rate, HardwareRate):
        return None
    return other_hourly_rate(rates.get((rate.deployment.name, rate.sweep_id)), rate.usd_per_hour)
