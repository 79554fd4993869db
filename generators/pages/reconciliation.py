"""Reconciliation: where the money figures disagree, by class, with every cell and trial concerned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generators.pages import links, words
from generators.pages.cell import cell_title
from generators.pages.cell_tables import trial_entry
from generators.pages.dated_text import as_recorded, found_entry
from generators.pages.money_flag import ratio_words
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.tables.dollars import Priced
from generators.tables.reconciliation import ReconciledCell, ReconciledTrial
from runner.costs.cell_reconciliation import CellComparison
from runner.costs.comparison import Comparison, Figure, Pair
from runner.costs.disagreement import AGREEMENT_WORDS, BAND, CLASSES, Agreement, Reason

PAIR_WORDS = {
    Pair.BOOK: "recorded / price book",
    Pair.LIST: "recorded / tokens at the agent's list",
    Pair.RECORDED: "recorded / recorded otherwise",
    Pair.NOTIONAL: "notional / hardware-derived",
    Pair.CREDITS: "as recorded / at the rate in use",
    Pair.SERVER: "agent's counts / server's counts",
    Pair.BASES: "two bases, not compared",
}
QUIET = frozenset({Reason.HARDWARE_ONLY, Reason.CREDITS_ONLY, Reason.NO_SECOND_WAY, Reason.BY_DESIGN})
"""Classes of a single figure with nothing odd about it: counted, and listed in the export only."""
FIGURES = (
    Column("First figure", "number"),
    Column("Second figure", "number"),
    Column("Ratio", "number", "first over second"),
)


def pages(world: World) -> Iterator[Page]:
    """One page for the real results and one for the demonstration, never mixed."""
    path = links.reconciliation_page(world.prefix)
    found = world.reconciled
    crumbs = (Crumb("Home", links.HOME), Crumb("Methodology", links.METHODOLOGY))
    yield Page(
        path=path,
        title="Where the money figures disagree",
        template="reconciliation.md.j2",
        description="Every way to know a cost beside every other: ratios, classes, and the reason.",
        context={
            "within": BAND,
            "trials": len(found.trials),
            "cells": len(found.cells),
            "beyond": [
                words.counted(sum(each.found.beyond for each in of), name)
                for of, name in ((found.trials, "trial"), (found.cells, "cell"))
            ],
            "agreements": _agreements(world),
            "classes": _classes(world),
            "sections": [(reason, CLASSES[reason]) for reason in found.classes()],
            "absent": [(reason, CLASSES[reason]) for reason in Reason if reason not in found.classes()],
            "cell_table": _cells(world, path),
            "trial_table": _trials(world, path),
            "data_href": links.relative(path, f"{world.prefix}data/cost_comparisons.csv"),
            "dictionary_href": links.relative(path, links.DATA),
        },
        crumbs=crumbs,
        in_search=not world.demonstration,
        demonstration=world.demonstration,
    )


def _agreements(world: World) -> Table:
    rows = [
        [
            Entry(
                f"The figures {AGREEMENT_WORDS[level]}"
                if level in COMPARED
                else AGREEMENT_WORDS[level].capitalize()
            )
        ]
        + [Entry(f"{amount:,}", float(amount)) for amount in amounts]
        for level, amounts in world.reconciled.agreements().items()
    ]
    columns = [Column("How far"), Column("Trials", "number"), Column("Cells", "number")]
    return table("How far the money figures agree", columns, rows, sortable=False)


COMPARED = frozenset({Agreement.BEYOND, Agreement.AGREES, Agreement.NOT_COMPARABLE})


def _classes(world: World) -> Table:
    rows = [
        [
            Entry(CLASSES[reason].title, href=f"#{reason.value}"),
            *(Entry(f"{amount:,}", float(amount)) for amount in amounts),
            Entry(CLASSES[reason].sentence),
        ]
        for reason, amounts in world.reconciled.classes().items()
    ]
    columns = [
        Column("Class"),
        Column("Trials", "number", "trials that it applies to; one trial may have several classes"),
        Column(f"Beyond {BAND}", "number", "of them, those with figures that disagree"),
        Column("Cells", "number"),
        Column("What it means", wide=True),
    ]
    return table("Classes of disagreement that occur", columns, rows)


def _cells(world: World, page: str) -> Table | None:
    """Every comparison of a cell's sums, and the notes about whole cells."""
    rows = []
    for each in world.reconciled.cells:
        for comparison in each.found.comparisons:
            rows.append(
                [
                    _cell_link(world, each, page),
                    Entry(PAIR_WORDS[comparison.pair]),
                    *_both(comparison, sources=True),
                    _agreement(comparison.agreement),
                    _reasons(tuple(reason for reason, _ in comparison.reasons)),
                    Entry(f"{comparison.n} of {len(each.found.trials)}", float(comparison.n)),
                ]
            )
    if not rows:
        return None
    columns = [Column("Cell"), Column("Compared"), *FIGURES, Column("Agreement"), Column("Class")]
    columns.append(Column("Trials with both", "number"))
    return table("Cells: sums over the same trials", columns, rows)


def _trials(world: World, page: str) -> Table | None:
    """The deciding comparison of each trial, and of those without one what is odd about them."""
    rows = []
    for each in world.reconciled.trials:
        main = each.found.main
        if main is None and not set(each.found.reasons) - QUIET:
            continue
        figures = _both(main, sources=False) if main is not None else [Entry("none", None, unknown=True)] * 3
        rows.append(
            [
                link_entry(each.trial.task, _trial_href(world, each, page), note=cell_title(each.cell)),
                trial_entry(world, each.trial, page),
                Entry(PAIR_WORDS[main.pair] if main is not None else "nothing to compare"),
                *figures,
                _agreement(each.found.agreement),
                _reasons(tuple(reason for reason in each.found.reasons if reason not in QUIET)),
                found_entry(_said(each), as_recorded(each.trial)) if main is None else Entry(_said(each)),
            ]
        )
    if not rows:
        return None
    columns = [Column("Task"), Column("Trial", "number"), Column("Compared"), *FIGURES]
    columns += [Column("Agreement"), Column("Class"), Column("What was found", wide=True)]
    return table("Trials with two figures or an oddity", columns, rows)


def _said(each: ReconciledTrial) -> str:
    main = each.found.main
    texts = [main.explanation.text] if main is not None and main.explanation.text else []
    texts += [note.text for note in each.found.notes if note.reason not in QUIET]
    likely = " The class is likely, not shown." if main is not None and main.explanation.likely else ""
    return " ".join(texts) + likely


def _cell_link(world: World, each: ReconciledCell, page: str) -> Entry:
    notes = "; ".join(note.text for note in each.found.notes)
    href = links.relative(page, world.cell_page(each.cell))
    return link_entry(cell_title(each.cell), href, note=notes)


def _trial_href(world: World, each: ReconciledTrial, page: str) -> str:
    target = world.trial_page(each.trial) if each.trial.own_run else world.cell_page(each.cell)
    return links.relative(page, target)


def _both(comparison: Comparison | CellComparison, *, sources: bool) -> list[Entry]:
    ratio = comparison.ratio
    shown = Entry("not compared", None, unknown=True) if ratio is None else Entry(ratio_words(ratio), ratio)
    return [*(_figure(each, sources=sources) for each in (comparison.first, comparison.second)), shown]


def _figure(figure: Figure, *, sources: bool) -> Entry:
    if figure.amount_usd is None:
        return Entry("tokens only", None, note=figure.what, unknown=True)
    day = figure.price_as_of
    rests = words.priced(Priced(figure.basis, day, day, undated=day is None))
    note = f"{rests}; {figure.what}" if sources else rests
    return Entry(words.dollars(figure.amount_usd), figure.amount_usd, note=note)


def _agreement(level: Agreement) -> Entry:
    return Entry(AGREEMENT_WORDS[level])


def _reasons(reasons: Sequence[Reason]) -> Entry:
    """The classes, the first as a link to its explanation."""
    if not reasons:
        return Entry("none", unknown=True)
    others = ", ".join(CLASSES[reason].title for reason in reasons[1:])
    return Entry(
        CLASSES[reasons[0]].title, href=f"#{reasons[0].value}", note=f"also: {others}" if others else ""
    )
