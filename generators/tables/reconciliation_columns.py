"""Reconciliation columns: what the export of cost comparisons holds, with type, unit and meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from generators.tables.cells import Cell
from generators.tables.columns import DAY, IDENTITY, NUMBER, TEXT, TRUTH, WHOLE, DataColumn, Scalar
from generators.tables.reconciliation import Reconciled, ReconciledCell, ReconciledTrial
from runner.costs.cell_reconciliation import CellComparison
from runner.costs.comparison import Comparison, Figure
from runner.costs.disagreement import Agreement, Reason
from runner.costs.reconciliation import Note


@dataclass(frozen=True)
class ComparisonRow:
    """One comparison or note, of a trial or of a whole cell; a cell has no ``task`` and no ``trial``."""

    cell: Cell
    task: str | None
    trial: int | None
    state: str | None
    trials: int
    agreement: Agreement
    pair: str | None = None
    first: Figure | None = None
    second: Figure | None = None
    ratio: float | None = None
    reasons: tuple[Reason, ...] = ()
    likely: bool | None = None
    text: str = ""


def comparison_rows(reconciled: Reconciled) -> list[ComparisonRow]:
    """Every comparison and note of every cell, the cell before its trials; without any, one row."""
    return [row for cell in reconciled.cells for row in (*_of_cell(cell), *_of_trials(cell))]


def _of_cell(each: ReconciledCell) -> Iterator[ComparisonRow]:
    found = each.found
    total = len(found.trials)
    for item in (*found.comparisons, *found.notes) or (None,):
        if isinstance(item, CellComparison):
            yield ComparisonRow(
                each.cell,
                None,
                None,
                None,
                item.n,
                item.agreement,
                item.pair.value,
                item.first,
                item.second,
                item.ratio,
                tuple(reason for reason, _ in item.reasons),
            )
        elif isinstance(item, Note):
            yield _noted(ComparisonRow(each.cell, None, None, None, total, found.agreement), item)
        else:
            reasons = (found.reason,) if found.reason else ()
            yield ComparisonRow(each.cell, None, None, None, total, found.agreement, reasons=reasons)


def _of_trials(cell: ReconciledCell) -> Iterator[ComparisonRow]:
    for each in cell.trials:
        yield from _of_trial(each)


def _of_trial(each: ReconciledTrial) -> Iterator[ComparisonRow]:
    trial, found = each.trial, each.found
    who = (each.cell, trial.task, trial.record.identity.trial, trial.state.value, 1)
    for item in (*found.comparisons, *found.notes) or (None,):
        if isinstance(item, Comparison):
            yield ComparisonRow(
                *who,
                item.agreement,
                item.pair.value,
                item.first,
                item.second,
                item.ratio,
                item.explanation.reasons,
                item.explanation.likely,
                item.explanation.text,
            )
        elif isinstance(item, Note):
            yield _noted(ComparisonRow(*who, found.agreement), item)
        else:
            yield ComparisonRow(*who, found.agreement)


def _noted(row: ComparisonRow, note: Note) -> ComparisonRow:
    return replace(row, ratio=note.ratio, reasons=(note.reason,), text=note.text)


def _of_identity(column: DataColumn[Cell], row: ComparisonRow) -> Scalar:
    return column.read(row.cell)


def _side(name: str, read: Callable[[Figure], Scalar], row: ComparisonRow) -> Scalar:
    figure: Figure | None = getattr(row, name)
    return None if figure is None else read(figure)


def _figure_columns(name: str, title: str) -> tuple[DataColumn[ComparisonRow], ...]:
    def column(
        end: str, kind: str, unit: str, meaning: str, read: Callable[[Figure], Scalar]
    ) -> DataColumn[ComparisonRow]:
        """One column of the figure that is called ``name``."""
        return DataColumn(
            f"{name}_{end}", kind, unit, f"{title} figure: {meaning}", partial(_side, name, read)
        )

    return (
        column("usd", NUMBER, "US dollars", "the amount", lambda f: f.amount_usd),
        column("basis", TEXT, "", "what it rests on", lambda f: f.basis.value),
        column(
            "price_date",
            DAY,
            "",
            "day of its prices, of several the oldest",
            lambda f: f.price_as_of.isoformat() if f.price_as_of else None,
        ),
        column("source", TEXT, "", "where it was read or how it was computed", lambda f: f.what),
    )


COMPARISON_COLUMNS: tuple[DataColumn[ComparisonRow], ...] = (
    *(DataColumn(c.name, c.type, c.unit, c.meaning, partial(_of_identity, c)) for c in IDENTITY),
    DataColumn("scope", TEXT, "", "trial or cell", lambda r: "cell" if r.task is None else "trial"),
    DataColumn("task", TEXT, "", "task id; empty for a cell", lambda r: r.task),
    DataColumn("trial", WHOLE, "", "number of the attempt; empty for a cell", lambda r: r.trial),
    DataColumn("state", TEXT, "", "scored, failed, unscored or excluded", lambda r: r.state),
    DataColumn("trials", WHOLE, "trials", "trials that both figures are over", lambda r: r.trials),
    DataColumn(
        "pair", TEXT, "", "which two ways to know the cost are compared; empty for a note", lambda r: r.pair
    ),
    *_figure_columns("first", "first"),
    *_figure_columns("second", "second"),
    DataColumn(
        "ratio", NUMBER, "", "first over second figure, or the number behind a note", lambda r: r.ratio
    ),
    DataColumn(
        "agreement",
        TEXT,
        "",
        "beyond, agrees, not-comparable, one-way or no-amount",
        lambda r: r.agreement.value,
    ),
    DataColumn(
        "reason",
        TEXT,
        "",
        "named class of the disagreement; empty where the figures agree",
        lambda r: r.reasons[0].value if r.reasons else None,
    ),
    DataColumn(
        "reasons",
        TEXT,
        "",
        "every class that applies, separated by blanks",
        lambda r: " ".join(reason.value for reason in r.reasons) or None,
    ),
    DataColumn(
        "likely",
        TRUTH,
        "",
        "the class fits, but the records do not show it; empty for a cell",
        lambda r: r.likely,
    ),
    DataColumn("explanation", TEXT, "", "what was found, with its numbers", lambda r: r.text or None),
)
