"""World: everything the pages of one store are made from; the real results and the demonstration are two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from generators.pages import links
from generators.reference import Reference
from generators.tables.aliases import ModelAliases
from generators.tables.boards import Board, build_boards
from generators.tables.cells import Cell
from generators.tables.endpoint_runs import EndpointRuns
from generators.tables.facts import TrialFacts
from generators.tables.judge_card import JudgeCard, judge_cards
from generators.tables.pair_table import PairTable, pair_tables
from generators.tables.reconciliation import Reconciled, reconcile
from runner.costs.bases import Pricing
from runner.costs.hardware import HardwareRates
from runner.costs.price_choice import PriceChoice
from runner.datasets import Dataset, Task
from runner.records import PlanRecord, ProofRecord, ThroughputRecord


@dataclass(frozen=True)
class World:
    """Cells of one kind with what explains them.

    ``prefix`` is empty for real results and ``demonstration/`` for results of the built-in model server;
    pages of one world never show cells of the other.
    """

    cells: tuple[Cell, ...]
    datasets: Mapping[str, Dataset]
    pricing: Pricing
    sweeps: tuple[ThroughputRecord, ...]
    plans: tuple[PlanRecord, ...]
    prefix: str = ""
    aliases: ModelAliases = field(default_factory=ModelAliases)
    reference: Reference = field(default_factory=Reference)
    """What the code says of itself."""
    choice: PriceChoice = field(default_factory=PriceChoice)
    """At which prices the costs were asked for."""
    proofs: tuple[ProofRecord, ...] = ()
    """How judges scored submissions that were made to try them out."""
    endpoints: EndpointRuns = field(default_factory=EndpointRuns)
    """Benchmarks of model endpoints."""

    @property
    def rates(self) -> HardwareRates:
        """Hardware rates of the swept deployments."""
        return self.pricing.rates

    @property
    def demonstration(self) -> bool:
        """Whether these are results of the built-in model server."""
        return bool(self.prefix)

    @cached_property
    def harnesses(self) -> tuple[str, ...]:
        """Harnesses that have cells, in order."""
        return tuple(sorted({cell.identity.harness for cell in self.cells}))

    @cached_property
    def skills(self) -> tuple[str, ...]:
        """Skills that have cells, in order."""
        return tuple(sorted({cell.identity.skill for cell in self.cells}))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Model slugs that have cells, in order."""
        return tuple(sorted({cell.identity.model.slug for cell in self.cells}))

    @cached_property
    def dataset_names(self) -> tuple[str, ...]:
        """Datasets with cells, and for real results all that are described, in order."""
        names = {cell.identity.dataset for cell in self.cells}
        if not self.demonstration:
            names |= set(self.datasets)
        return tuple(sorted(names))

    @cached_property
    def judge_cards(self) -> tuple[JudgeCard, ...]:
        """One card for each judge, version and rubric that scored a recorded trial or was tried out."""
        trials = (trial for cell in self.cells for trial in (*cell.counted, *cell.excluded))
        return judge_cards(trials, self.proofs)

    @cached_property
    def reconciled(self) -> Reconciled:
        """How far the ways to know each cost agree."""
        return reconcile(self.cells, self.pricing, self.sweeps)

    @cached_property
    def repositories(self) -> Mapping[str, Mapping[str, str]]:
        """Repository of each task, by dataset; empty for a dataset that no file describes."""
        return {
            name: {task.id: task.repo for task in dataset.tasks} for name, dataset in self.datasets.items()
        }

    @cached_property
    def pair_tables(self) -> tuple[PairTable, ...]:
        """Every pair of cells of each skill and dataset, with the one verdict that all pages show."""
        return tuple(pair_tables(self.cells, self.repositories))

    @cached_property
    def newest_run(self) -> date | None:
        """The newest day on which a trial ran, as far as known."""
        return max((cell.run_date for cell in self.cells if cell.run_date is not None), default=None)

    @cached_property
    def trial_count(self) -> int:
        """Recorded trials, counted or not."""
        return sum(len(cell.trials) for cell in self.cells)

    def select(
        self,
        *,
        harness: str | None = None,
        skill: str | None = None,
        dataset: str | None = None,
        model: str | None = None,
    ) -> tuple[Cell, ...]:
        """Cells that match every given name."""
        return tuple(
            cell
            for cell in self.cells
            if harness in {None, cell.identity.harness}
            and skill in {None, cell.identity.skill}
            and dataset in {None, cell.identity.dataset}
            and model in {None, cell.identity.model.slug}
        )

    @cached_property
    def _boards(self) -> dict[tuple[str, str], tuple[Board, ...]]:
        return {
            (harness, skill): tuple(build_boards(self.select(harness=harness, skill=skill)))
            for harness in self.harnesses
            for skill in self.skills
        }

    def boards(self, harness: str, skill: str) -> tuple[Board, ...]:
        """Boards of one harness under one skill, the ones with most cells first."""
        return tuple(
            sorted(
                self._boards.get((harness, skill), ()), key=lambda board: (-len(board.cells), board.dataset)
            )
        )

    @cached_property
    def skill_boards(self) -> tuple[tuple[str, Board], ...]:
        """Every skill and dataset with all harnesses on one board, the one with most scored cells first."""
        found = [(skill, board) for skill in self.skills for board in build_boards(self.select(skill=skill))]

        def order(pair: tuple[str, Board]) -> tuple[int, int, str, str]:
            """Most scored cells first, then most cells, then by name."""
            scored = sum(cell.has_scores for cell in pair[1].cells)
            return -scored, -len(pair[1].cells), pair[0], pair[1].dataset

        return tuple(sorted(found, key=order))

    def board_of(self, cell: Cell) -> Board | None:
        """The board of the cell's harness, skill and dataset."""
        boards = self._boards.get((cell.identity.harness, cell.identity.skill), ())
        return next((board for board in boards if board.dataset == cell.identity.dataset), None)

    @cached_property
    def widest(self) -> tuple[str, str] | None:
        """(skill, dataset) with the most scored cells: what the home page shows. None without any cell."""
        sizes: dict[tuple[str, str], int] = {}
        for cell in self.cells:
            pair = (cell.identity.skill, cell.identity.dataset)
            sizes[pair] = sizes.get(pair, 0) + (1_000 if cell.has_scores else 1)
        return max(sizes, key=lambda pair: (sizes[pair], pair)) if sizes else None

    def cell_page(self, cell: Cell) -> str:
        """Source path of the cell's page."""
        return links.cell_page(cell.identity, self.prefix)

    def trial_page(self, trial: TrialFacts) -> str:
        """Source path of the page of a trial; only trials with ``own_run`` have one."""
        return links.trial_page(trial.record.identity, self.prefix)

    def task(self, dataset: str, name: str) -> Task | None:
        """The task as its dataset file describes it; None where no file does."""
        described = self.datasets.get(dataset)
        return next((entry for entry in described.tasks if entry.id == name), None) if described else None
