"""Agreement columns: how far the ways to know a cost agree, for each trial and each cell of the exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from generators.tables.cells import Cell
from generators.tables.columns import (
    CELL_COLUMNS,
    NUMBER,
    TEXT,
    TRIAL_COLUMNS,
    TRUTH,
    CellTrial,
    DataColumn,
    Scalar,
)
from generators.tables.reconciliation import Reconciled
from runner.costs.cell_reconciliation import CellReconciliation
from runner.costs.disagreement import AGREES_WITHIN, Agreement, Reason
from runner.costs.reconciliation import TrialReconciliation

Row = TypeVar("Row")
NOTHING = Reconciled(())
"""No comparison at all."""


class Found(Protocol):
    """What a comparison of the ways found, of a trial or of a cell."""

    @property
    def agreement(self) -> Agreement:
        """The worst agreement."""

    @property
    def beyond(self) -> bool:
        """Whether two comparable figures differ by too much."""


def trial_columns(reconciled: Reconciled = NOTHING) -> tuple[DataColumn[CellTrial], ...]:
    """Every column of a trial, with what ``reconciled`` found of its cost."""

    def found(row: CellTrial) -> TrialReconciliation | None:
        """What was found of one trial."""
        return reconciled.trial(row[1])

    def ratio(row: CellTrial) -> Scalar:
        """The first of the two figures that decide over the second, in one trial."""
        main = each.main if (each := found(row)) is not None else None
        return main.ratio if main is not None else None

    return (*TRIAL_COLUMNS, *_columns(found, ratio, lambda row: _reasons(found(row))))


def cell_columns(reconciled: Reconciled = NOTHING) -> tuple[DataColumn[Cell], ...]:
    """Every column of a cell, with what ``reconciled`` found of its cost."""

    def ratio(cell: Cell) -> Scalar:
        """The same of the sums over a cell."""
        main = each.main if (each := reconciled.cell(cell)) is not None else None
        return main.ratio if main is not None else None

    return (*CELL_COLUMNS, *_columns(reconciled.cell, ratio, lambda cell: _classes(reconciled.cell(cell))))


def _columns(
    found: Callable[[Row], Found | None], ratio: Callable[[Row], Scalar], reasons: Callable[[Row], Scalar]
) -> tuple[DataColumn[Row], ...]:
    def agreement(row: Row) -> Scalar:
        """The verdict in one word; null where nothing was compared."""
        each = found(row)
        return None if each is None else each.agreement.value

    def beyond(row: Row) -> Scalar:
        """What stands beside the verdict; null where nothing was compared."""
        each = found(row)
        return None if each is None else each.beyond

    levels = ", ".join(level.value for level in Agreement)
    return (
        DataColumn(
            "cost_agreement", TEXT, "", f"worst agreement of the ways to know the cost: {levels}", agreement
        ),
        DataColumn(
            "cost_beyond",
            TRUTH,
            "",
            f"two of them that can be compared differ by more than {AGREES_WITHIN:.0%}",
            beyond,
        ),
        DataColumn("cost_ratio", NUMBER, "", "ratio of the two that decide", ratio),
        DataColumn(
            "cost_reasons", TEXT, "", "every class of disagreement or oddity, separated by blanks", reasons
        ),
    )


def _reasons(found: TrialReconciliation | None) -> str | None:
    return None if found is None else _joined(found.reasons)


def _classes(found: CellReconciliation | None) -> str | None:
    return None if found is None else _joined([reason for reason, _ in found.reasons])


def _joined(reasons: tuple[Reason, ...] | list[Reason]) -> str | None:
    return " ".join(reason.value for reason in reasons) or None
