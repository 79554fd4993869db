"""Data: downloads, schemas, the dictionary, and the licences of what was imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from generators.pages import links, words
from generators.pages.decide_dictionary import decide_dictionary
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.tables.agreement_columns import cell_columns, trial_columns
from generators.tables.columns import JUDGEMENT_COLUMNS, DataColumn, RowType
from generators.tables.database import artifact_rows, trial_rows
from generators.tables.endpoint_columns import ENDPOINT_TARGET_COLUMNS, ENDPOINT_TRIAL_COLUMNS
from generators.tables.endpoint_columns import trial_rows as endpoint_trial_rows
from generators.tables.proof_columns import PROOF_COLUMNS
from generators.tables.reconciliation_columns import COMPARISON_COLUMNS, comparison_rows
from runner.records import KINDS, json_schemas

EXPORTS = (
    ("trials", "One row for each trial, counted or not; the column state says which figures it enters"),
    ("cells", "One row for each cell, every figure with its n and m"),
    ("judged_artifacts", "One row for each judged artifact of the scored trials"),
    ("judge_proofs", "One row for each time that a judge scored a submission made to try judges out"),
    (
        "cost_comparisons",
        "One row for each pair of ways to know a cost, and for each oddity about one",
    ),
    ("endpoint_targets", "One row for each mapping of each endpoint benchmark, every rate with its counts"),
    ("endpoint_trials", "One row for each trial of an endpoint benchmark, without what models wrote"),
)
FORMATS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON"}


def pages(world: World, demonstration: World | None) -> Iterator[Page]:
    """The data page; real results only, with links to the demonstration's exports where there are some."""
    if world.demonstration:
        return
    yield Page(
        path=links.DATA,
        title="Data",
        template="data.md.j2",
        description="Everything on this site as CSV, Parquet and JSON, with schemas and a dictionary.",
        context={
            "exports": _exports(world),
            "demonstration": _exports(demonstration) if demonstration is not None else None,
            "dictionaries": [
                ("trials", _dictionary("trials", trial_columns())),
                ("cells", _dictionary("cells", cell_columns())),
                ("judged_artifacts", _dictionary("judged_artifacts", JUDGEMENT_COLUMNS)),
                ("judge_proofs", _dictionary("judge_proofs", PROOF_COLUMNS)),
                ("cost_comparisons", _dictionary("cost_comparisons", COMPARISON_COLUMNS)),
                ("endpoint_targets", _dictionary("endpoint_targets", ENDPOINT_TARGET_COLUMNS)),
                ("endpoint_trials", _dictionary("endpoint_trials", ENDPOINT_TRIAL_COLUMNS)),
                ("decide", decide_dictionary()),
            ],
            "schemas": _schemas(),
            "sources": _sources(world),
            "quality_href": links.relative(links.DATA, links.QUALITY),
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _exports(world: World) -> Table:
    rows_of = {
        "trials": len(trial_rows(world.cells)),
        "cells": len(world.cells),
        "judged_artifacts": len(artifact_rows(world.cells)),
        "judge_proofs": len(world.proofs),
        "cost_comparisons": len(comparison_rows(world.reconciled)),
        "endpoint_targets": len(tuple(world.endpoints.rows())),
        "endpoint_trials": len(endpoint_trial_rows(world.endpoints)),
    }
    rows = []
    for name, meaning in EXPORTS:
        files = [
            Entry(FORMATS[suffix], href=links.relative(links.DATA, f"{world.prefix}data/{name}.{suffix}"))
            for suffix in FORMATS
        ]
        rows.append([Entry(name, note=meaning), Entry(f"{rows_of[name]:,}", float(rows_of[name])), *files])
    columns = [
        Column("Table"),
        Column("Rows", "number"),
        Column("CSV"),
        Column("Parquet"),
        Column("JSON by columns"),
    ]
    return table("Downloads", columns, rows, sortable=False)


def _dictionary(name: str, columns: Sequence[DataColumn[RowType]]) -> Table:
    rows = [
        [
            Entry(column.name, code=True),
            Entry(column.type),
            Entry(column.unit or "none"),
            Entry(column.meaning),
        ]
        for column in columns
    ]
    head = [Column("Column"), Column("Type"), Column("Unit"), Column("Meaning", wide=True)]
    return table(f"Columns of {name}", head, rows)


def _schemas() -> Table:
    rows = []
    for name in sorted(json_schemas()):
        kind = name.rsplit("-", 1)[0]
        record = KINDS.get(kind)
        meaning = (
            " ".join((record.__doc__ or "").replace("``", "").split())
            if record is not None
            else "One line of a ledger."
        )
        href = links.relative(links.DATA, f"{links.SCHEMAS}/{name}.json")
        rows.append([link_entry(f"{name}.json", href), Entry(meaning)])
    return table(
        "JSON Schemas of the records", [Column("Schema"), Column("Record", wide=True)], rows, sortable=False
    )


def _sources(world: World) -> Table | None:
    counts: Counter[tuple[str, str]] = Counter()
    for cell in world.cells:
        for trial in cell.trials:
            source = trial.record.source
            if source is not None:
                counts[source.repository, source.license] += 1
    sweeps: Counter[tuple[str, str]] = Counter(
        (sweep.source.repository, sweep.source.license) for sweep in world.sweeps if sweep.source is not None
    )
    rows = []
    for repository, licence in sorted(counts.keys() | sweeps.keys()):
        address = repository if "://" in repository else f"https://github.com/{repository}"
        amounts = (counts[repository, licence], sweeps[repository, licence])
        rows.append(
            [
                link_entry(repository, address),
                Entry(licence),
                *(Entry(f"{amount:,}", float(amount)) for amount in amounts),
            ]
        )
    if not rows:
        return None
    columns = [
        Column("Repository"),
        Column("Licence"),
        Column("Trials", "number"),
        Column("Sweeps", "number"),
    ]
    return table(
        f"Sources of imported data ({words.counted(len(rows), 'source')})", columns, rows, sortable=False
    )
