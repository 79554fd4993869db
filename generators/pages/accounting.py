"""Accounting: what each coding agent records of a run beside what the model server counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generators.pages import links, words
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, count_entry, table
from generators.pages.world import World
from runner.records import AccountingRow

CLASSES = {
    "fresh": "Input",
    "read": "Cache read",
    "write": "Cache write",
    "output": "Output",
    "reasoning": "Reasoning, part of output",
}


def pages(world: World) -> Iterator[Page]:
    """The page of all rows; there is none where nothing was ever run so."""
    rows = world.reference.accounting
    if world.demonstration or not rows:
        return
    agreeing = sum(row.agrees for row in rows)
    yield Page(
        path=links.ACCOUNTING,
        title="Token accounting",
        template="accounting.md.j2",
        description="What each coding agent records of a run beside what the model server counted.",
        context={
            "agreeing": agreeing,
            "total": len(rows),
            "overview": _overview(world),
            "rows": accounting_table(rows, "Recorded and true counts of every run"),
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Set up", links.SETUP)),
    )


def _overview(world: World) -> Table:
    rows = []
    for harness in world.reference.harnesses:
        own = world.reference.rows_of(harness.name)
        if not own:
            continue
        agreeing = sum(row.agrees for row in own)
        rows.append(
            [
                Entry(harness.name, href=links.relative(links.ACCOUNTING, links.setup_page(harness.name))),
                Entry(own[0].version),
                Entry(words.listing(sorted({row.protocol for row in own}))),
                Entry(f"{agreeing} of {len(own)}", agreeing / len(own)),
                Entry(words.listing(_deviations(own), 3) or "nothing that the server told"),
                Entry(max(row.taken_on for row in own).isoformat()),
            ]
        )
    columns = [
        Column("Harness"),
        Column("Version"),
        Column("Protocols"),
        Column("Runs that agree", "number"),
        Column("What its own counts leave out", wide=True),
        Column("Taken on"),
    ]
    return table("Harnesses", columns, rows)


def _deviations(rows: Sequence[AccountingRow]) -> list[str]:
    """Why counts do not agree, or hold less than the server told, each reason once."""
    return sorted({row.explanation or "not known" for row in rows if not row.agrees or _untold(row)})


def _untold(row: AccountingRow) -> list[str]:
    """Classes that the server told and that are unknown here, by the harness's own word."""
    return [name for name in CLASSES if row.recorded.get(name) is None and row.true[name]]


def accounting_table(rows: Sequence[AccountingRow], label: str, *, harness: bool = True) -> Table:
    """One row for each run: recorded / true, or one number where both are equal.

    Args:
        harness: whether the first column names the harness, or else what happened.
    """
    columns = [Column("Harness")] if harness else []
    columns += [Column("What happened"), Column("Protocol")]
    columns += [Column(title, "number") for title in ("Requests", "Turns", "Retries seen")]
    columns += [Column(title, "number") for title in CLASSES.values()]
    columns += [Column("Agrees"), Column("Why they differ", wide=True)]
    return table(label, columns, [_row(row, harness=harness) for row in rows])


def _row(row: AccountingRow, *, harness: bool) -> list[Entry]:
    first = [Entry(row.harness, note="a stand-in played recorded output" if row.stand_in else "")]
    return [
        *(first if harness else []),
        Entry(row.title),
        Entry(row.protocol),
        count_entry(row.requests),
        count_entry(row.turns, "unknown"),
        count_entry(row.retries, "unknown"),
        *(
            _pair(row.recorded.get(name), row.true[name], row.told_of_broken_answers.get(name, 0))
            for name in CLASSES
        ),
        Entry(("as far as it tells" if _untold(row) else "yes") if row.agrees else "no"),
        Entry(row.explanation),
    ]


def _pair(recorded: int | None, true: int, partly: int) -> Entry:
    if recorded == true and not partly:
        return Entry(f"{true:,}", float(true))
    said = "unknown" if recorded is None else f"{recorded:,}"
    both = f"{said} / {true:,}" + (f" + {partly:,}" if partly else "")
    return Entry(both, None if recorded is None else float(recorded))
