"""Exports: every format says the same, unknown stays unknown, and two exports are byte-identical."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from generators.escape import spreadsheet_text
from generators.tables.agreement_columns import cell_columns, trial_columns
from generators.tables.cells import Cell
from generators.tables.columns import JUDGEMENT_COLUMNS, DataColumn
from generators.tables.database import Database, TableData, for_spreadsheets
from generators.tables.endpoint_columns import ENDPOINT_TARGET_COLUMNS, ENDPOINT_TRIAL_COLUMNS
from generators.tables.exports import summary_json, summary_markdown, summary_paths
from generators.tables.figures import FIGURES
from generators.tables.proof_columns import PROOF_COLUMNS
from generators.tables.reconciliation import reconcile
from generators.tables.reconciliation_columns import COMPARISON_COLUMNS
from runner.costs.price_choice import PriceChoice
from runner.records import Cost, CostBasis, JudgementStatus, ModelName
from runner.store import ResultsStore
from tests import examples
from tests.generators.tables.made import ROOT, Made, cells, committed, one_cell
from tests.hostile import corpus

TABLES = (
    "trials",
    "cells",
    "judged_artifacts",
    "judge_proofs",
    "cost_comparisons",
    "endpoint_targets",
    "endpoint_trials",
)


@pytest.fixture
def small(tmp_path: Path) -> list[Cell]:
    """A cell with a scored trial, one without a cost, and one that failed."""
    return cells(
        tmp_path / "results",
        [
            Made("task-a", (19, 14, 22, 20), cost=1.5),
            Made("task-b", (14, 14, 14, 13), cost=None),
            Made("task-c", (0, 0, 0, 0), cost=0.5, status=JudgementStatus.ZERO_BY_MISSING_ARTIFACTS),
        ],
    )


@pytest.fixture
def database(small: list[Cell]) -> Iterator[Database]:
    """Its database."""
    opened = Database(small)
    yield opened
    opened.close()


def test_the_frame_has_the_declared_columns(database: Database) -> None:
    declared = {
        "trials": [column.name for column in trial_columns()],
        "cells": [column.name for column in cell_columns()],
        "judged_artifacts": [column.name for column in JUDGEMENT_COLUMNS],
        "judge_proofs": [column.name for column in PROOF_COLUMNS],
        "cost_comparisons": [column.name for column in COMPARISON_COLUMNS],
        "endpoint_targets": [column.name for column in ENDPOINT_TARGET_COLUMNS],
        "endpoint_trials": [column.name for column in ENDPOINT_TRIAL_COLUMNS],
    }
    for name in TABLES:
        assert list(database.frame(f"FROM {name}").columns) == declared[name]


DECLARED: dict[str, Sequence[DataColumn[Any]]] = {
    "trials": trial_columns(),
    "cells": cell_columns(),
    "judge_proofs": PROOF_COLUMNS,
    "cost_comparisons": COMPARISON_COLUMNS,
    "endpoint_targets": ENDPOINT_TARGET_COLUMNS,
    "endpoint_trials": ENDPOINT_TRIAL_COLUMNS,
}


def own(column: DataColumn[Any], names: set[str], end: str) -> bool:
    """Whether a column of its own tells what dollars rest on, or the first day of their prices."""
    stem = column.name.removesuffix("_usd")
    return bool({f"{stem}_{end}", f"{stem}_{end}_first"} & names)


@pytest.mark.parametrize("name", DECLARED)
def test_each_column_of_dollars_has_basis_and_price_date_beside_it(name: str) -> None:
    columns = DECLARED[name]
    names = {column.name for column in columns}
    dollars = [column for column in columns if column.unit == "US dollars"]
    assert dollars
    for column in dollars:
        # One pair of columns tells of all costs of a row but those that have their own basis.
        main = not column.name.startswith(("judging_", "first_", "second_"))
        said = any(basis.value in column.meaning for basis in CostBasis) or "price table" in column.meaning
        assert own(column, names, "basis") or said or (main and "cost_basis" in names), column.name
        dated = {"cost_price_date", "price_date_first"} & names
        assert own(column, names, "price_date") or (main and dated), column.name
    if name == "trials":
        assert all(own(column, names, "price_date") for column in dollars)


def test_no_exported_dollar_is_without_its_basis_and_the_flag_of_a_disagreement_is_there() -> None:
    published = committed()
    sweeps = list(ResultsStore(ROOT / "results").sweeps())
    found = reconcile(published, PriceChoice().pricing(ROOT / "datasets", sweeps), sweeps)
    database = Database(published, (), found)
    count = "SELECT count(*) FROM trials WHERE"
    ask = database.connection.execute
    bare = "cost_usd IS NOT NULL AND cost_basis IS NULL"
    assert ask(f"{count} {bare}").fetchone() == (0,)
    beyond = sum(each.found.beyond for each in found.trials)
    assert ask(f"{count} cost_beyond").fetchone() == (beyond,)
    assert ask(f"{count} cost_beyond AND cost_reasons IS NULL").fetchone() == (0,)
    assert ask("SELECT count(*) FROM cells WHERE cost_beyond").fetchone() == (
        sum(each.found.beyond for each in found.cells),
    )
    assert beyond > 20
    flagged = next(each for each in found.trials if each.found.beyond)
    document = json.loads(summary_json(flagged.cell, found))
    [own_row] = [
        row
        for row in document["trials"]
        if (row["task"], row["trial"]) == (flagged.trial.task, flagged.trial.record.identity.trial)
    ]
    assert (own_row["cost_beyond"], own_row["cost_agreement"]) == (True, "beyond")
    assert flagged.found.reason is not None
    assert own_row["cost_reasons"].split()[0] == flagged.found.reasons[0].value
    assert document["cost_agreement"]
    assert f"beyond: {flagged.found.reason.value}" in summary_markdown(flagged.cell, found).decode()
    database.close()


def test_sql_over_trials_gives_the_figures_of_the_cells() -> None:
    database = Database(committed())
    frame = database.frame(
        """
        SELECT count(*) AS differing FROM cells JOIN (
            SELECT model, provider, harness, skill, dataset, avg(score) AS mean, count(score) AS n,
                   avg(cost_usd) FILTER (state = 'scored') AS cost, sum(tokens_processed) AS tokens
            FROM trials WHERE state != 'excluded' GROUP BY ALL
        ) AS own USING (model, provider, harness, skill, dataset)
        WHERE abs(mean - mean_score) > 1e-9 OR n != mean_score_n OR abs(cost - cost_per_task) > 1e-9
           OR abs(tokens - tokens_total) > 0.5
        """
    )
    assert database.frame("SELECT count(*) AS n FROM cells WHERE mean_score IS NOT NULL")["n"][0] > 50
    assert frame["differing"][0] == 0
    database.close()


def test_parquet_csv_and_json_hold_the_same(database: Database, tmp_path: Path) -> None:
    database.export(tmp_path / "data")
    reader = duckdb.connect()
    for name in TABLES:
        parquet = reader.execute(f"FROM '{tmp_path}/data/{name}.parquet'").fetchall()
        typed = ", ".join(f"'{column}': '{kind}'" for column, kind in _columns(database, name))
        csv = reader.execute(
            f"FROM read_csv('{tmp_path}/data/{name}.csv', header=true, columns={{{typed}}})"
        ).fetchall()
        assert parquet == csv
        document = json.loads((tmp_path / "data" / f"{name}.json").read_text())
        assert document["rows"] == len(parquet)
        by_rows = list(zip(*document["columns"].values(), strict=True))
        assert [[str(value) for value in row] for row in by_rows] == [
            [str(value) for value in row] for row in parquet
        ]


def test_csv_begins_no_formula_and_parquet_keeps_every_text(tmp_path: Path) -> None:
    texts = [entry.text.encode("utf-8", "replace").decode()[:300] for entry in corpus()[::5]]
    texts = ["=1+1", "@SUM(A1)", "-2+3", "\t=1", "'quoted", *(text for text in texts if text)]
    trials = []
    for place, text in enumerate(texts):
        named = examples.cell().model_copy(update={"model": ModelName(raw_id=text, slug="model-a")})
        trials.append(Made(f"task-{place:03}", cell=named))
    database = Database(cells(tmp_path / "results", trials))
    database.export(tmp_path / "data")
    database.close()
    with (tmp_path / "data" / "trials.csv").open(encoding="utf-8", newline="") as file:
        written = [row["raw_model_id"] for row in csv.DictReader(file)]
    assert written[:5] == ["'=1+1", "'@SUM(A1)", "'-2+3", "'\t=1", "''quoted"]
    assert [text.removeprefix("'") if text[:1] == "'" else text for text in written] == texts
    parquet = duckdb.connect().read_parquet(str(tmp_path / "data" / "trials.parquet")).project("raw_model_id")
    assert [value for (value,) in parquet.fetchall()] == texts
    document = json.loads((tmp_path / "data" / "trials.json").read_text(encoding="utf-8"))
    assert document["columns"]["raw_model_id"] == texts


def test_a_negative_number_stays_a_number_in_csv() -> None:
    assert spreadsheet_text("-1.5") == "'-1.5"
    data = TableData("t", "", (("a", "DOUBLE"), ("b", "VARCHAR")), {"a": [-1.5], "b": ["-1.5"]})
    assert for_spreadsheets(data) == {"a": [-1.5], "b": ["'-1.5"]}


def _columns(database: Database, name: str) -> tuple[tuple[str, str], ...]:
    return next(data.columns for data in database.tables if data.name == name)


def test_an_unknown_cost_is_null_and_not_zero(database: Database) -> None:
    frame = database.frame("SELECT count(*) AS n FROM trials WHERE task = 'task-b' AND cost_usd IS NULL")
    assert frame["n"][0] == 1
    assert database.frame("SELECT cost_per_task_n AS n, cost_per_task_m AS m FROM cells").iloc[
        0
    ].tolist() == [1, 2]


def test_two_exports_are_byte_identical(small: list[Cell], tmp_path: Path) -> None:
    found = []
    for place in ("one", "two"):
        database = Database(small)
        found.append([path.read_bytes() for path in database.export(tmp_path / place)])
        database.close()
    assert found[0] == found[1]


def test_an_empty_store_exports_empty_tables(tmp_path: Path) -> None:
    database = Database([])
    database.export(tmp_path)
    assert json.loads((tmp_path / "trials.json").read_text())["rows"] == 0
    database.close()


def test_the_summary_of_a_cell_has_every_figure_and_trial(small: list[Cell]) -> None:
    (cell,) = small
    document = json.loads(summary_json(cell))
    assert set(document["figures"]) == {figure.name for figure in FIGURES}
    assert document["figures"]["mean_score"]["n"] == 2
    assert document["figures"]["mean_score"]["m"] == 3
    assert document["figures"]["cost_per_scored_task"]["value"] is None
    assert document["figures"]["cost_per_scored_task"]["missing_reason"]
    assert [trial["task"] for trial in document["trials"]] == ["task-a", "task-b", "task-c"]


def test_the_markdown_summary_cannot_be_broken_by_a_reason(tmp_path: Path) -> None:
    hostile = "no price | <script>x</script>\n\n# heading"
    costs = Made().record().costs
    cost = costs[0].model_copy(update={"amount_usd": None, "missing_reason": hostile})
    cell = one_cell(tmp_path, Made(changes={"costs": (cost,)}))
    written = summary_markdown(cell).decode()
    assert "<script" not in written
    assert "\n# heading" not in written
    assert all(line.count("|") in {0, 6, 10} for line in written.splitlines())


def test_summaries_lie_below_the_data_folder(small: list[Cell]) -> None:
    json_path, text_path = summary_paths(small[0], "demonstration/")
    assert json_path == "demonstration/data/cells/model-a_endpoint/loop/fix/hello-world/run-summary.json"
    assert text_path.endswith("/run-summary.txt")


def test_scorings_that_tried_a_judge_out_are_exported_with_what_they_cost(tmp_path: Path) -> None:
    free = (Cost(basis=CostBasis.NONE, amount_usd=0.0, source="scripted"),)
    proofs = [examples.proof(), examples.proof(side="reference", task_score=70.0, scores=None, costs=free)]
    database = Database([], proofs)
    query = """
        SELECT changed.score - reference.score AS shift, changed.cost_usd AS cost, reference.cost_usd AS none
        FROM judge_proofs changed JOIN judge_proofs reference USING (judge, suite_sha256, pair, number)
        WHERE changed.side = 'changed' AND reference.side = 'reference'
    """
    row = database.frame(query).iloc[0]
    assert (row["shift"], row["cost"]) == (5.0, 0.5)
    assert row["none"] != row["none"]
    database.export(tmp_path)
    assert json.loads((tmp_path / "judge_proofs.json").read_text())["rows"] == 2
    database.close()
