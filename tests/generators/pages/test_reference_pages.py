"""Methodology, data, data quality and about: generated from code and data, nothing typed by hand."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from generators.pages.cell import cell_title
from generators.pages.data import EXPORTS
from generators.pages.table import LONGEST_SEARCHED, Column, Entry, table
from generators.tables.agreement_columns import cell_columns, trial_columns
from generators.tables.columns import JUDGEMENT_COLUMNS
from generators.tables.endpoint_columns import ENDPOINT_TARGET_COLUMNS, ENDPOINT_TRIAL_COLUMNS
from generators.tables.proof_columns import PROOF_COLUMNS
from generators.tables.quality import OWN_CODES
from generators.tables.reconciliation_columns import COMPARISON_COLUMNS
from runner.costs.hardware import MissingRate
from runner.records import DataWarning, Outcome, json_schemas
from runner.records.warning import CODES
from runner.store import ResultsStore
from tests import examples
from tests.generators.pages.shown import committed, pages_of
from tests.generators.tables import made
from tests.generators.tables.made import ROOT, Made
from tests.importers import figures


def test_every_deployment_has_a_rate_or_a_reason() -> None:
    rates = figures.rates()
    rows = {
        row["Deployment"]: row
        for row in committed()["methodology/cost.md"].table("Rates of every swept deployment")
    }
    assert set(rows) == set(rates.deployments())
    for name, row in rows.items():
        rate = rates.rate_of(name)
        if isinstance(rate, MissingRate):
            assert rate.reason in row["Machine"]
            sweep = rates.sweep_of(name)
            assert sweep is not None
            assert row["Machine"].startswith(sweep.deployment.instance_type)
            assert row["Blended, per million"] == "not priced"
        else:
            assert row["Blended, per million"].startswith("$")
            assert row["Cheapest level"] == str(rate.level.concurrency)


def test_the_published_vector_of_glm_is_in_the_table_of_rates() -> None:
    rows = committed()["methodology/cost.md"].table("Rates of every swept deployment")
    row = next(row for row in rows if row["Deployment"] == "glm-5.2")
    assert (row["USD an hour"], row["Cheapest level"]) == ("27.72", "5")
    assert row["Blended, per million"] == "$0.49"
    assert (row["Split: input, per million"], row["Split: output, per million"]) == ("$0.47", "$1.87")


def test_the_token_examples_add_up_by_their_own_rule() -> None:
    for row in committed()["methodology/cost.md"].table("Tokens processed, worked out"):
        counts = [int(row[name].replace(",", "")) for name in ("Input", "Output")]
        if row["Cache counts"] == "disjoint":
            counts += [int(row[name].replace(",", "")) for name in ("Cache read", "Cache write")]
        assert sum(counts) == int(row["Tokens processed"].replace(",", ""))


def test_every_basis_is_explained_and_counted() -> None:
    rows = committed()["methodology/cost.md"].table("Cost bases")
    cells = sum(int(row["Cells"]) for row in rows)
    assert cells == sum(path.startswith("cells/") for path in committed())
    notional = next(row for row in rows if row["Basis"] == "notional")
    assert notional["Cells"] == "0"
    assert "trials carry such a figure" in notional["What it is"]


def test_the_credit_plans_stand_with_their_prices_days_and_sources() -> None:
    rows = committed()["methodology/cost.md"].table("Plans of vendors that bill by credits; basis credits")
    assert [(row["USD a credit"], row["USD a credit beyond"]) for row in rows] == [("0.02", "0.04")] * 3
    for row in rows:
        assert row["Days"] == "from 2026-04-02 on"
        assert "https://" in row["Source"]
        assert "Checked on 2026-11-30" in row["Source"]


def test_cells_priced_on_other_hardware_are_listed() -> None:
    label = "Cells priced by a sweep on hardware that is not known to be theirs"
    rows = committed()["methodology/cost.md"].table(label)
    assert {row["Same hardware"] for row in rows} == {"other hardware", "cannot be told"}
    assert any(
        "run on g6e.12xlarge, priced by a sweep on p5en.48xlarge" in row["What is known"] for row in rows
    )


def test_no_template_holds_a_dollar_figure_typed_by_hand() -> None:
    for path in (ROOT / "generators" / "templates").rglob("*.j2"):
        assert not re.search(r"\$\d", path.read_text(encoding="utf-8")), path.name


def test_the_dictionary_has_every_column_of_every_export() -> None:
    shown = committed()["data/index.md"]
    declared = {
        "trials": [column.name for column in trial_columns()],
        "cells": [column.name for column in cell_columns()],
        "judged_artifacts": [column.name for column in JUDGEMENT_COLUMNS],
        "judge_proofs": [column.name for column in PROOF_COLUMNS],
        "cost_comparisons": [column.name for column in COMPARISON_COLUMNS],
        "endpoint_targets": [column.name for column in ENDPOINT_TARGET_COLUMNS],
        "endpoint_trials": [column.name for column in ENDPOINT_TRIAL_COLUMNS],
    }
    assert [name for name, _ in EXPORTS] == list(declared)
    for name, columns in declared.items():
        rows = shown.table(f"Columns of {name}")
        assert [row["Column"] for row in rows] == columns
        assert all(row["Meaning"] for row in rows)


def test_every_schema_is_offered_with_what_it_describes() -> None:
    rows = committed()["data/index.md"].table("JSON Schemas of the records")
    assert [row["Schema"] for row in rows] == sorted(f"{name}.json" for name in json_schemas())
    assert all(len(row["Record"]) > 10 for row in rows)


def test_imported_data_carry_licence_and_source() -> None:
    rows = next(rows for label, rows in committed()["data/index.md"].tables() if label.startswith("Sources"))
    assert sum(int(row["Trials"].replace(",", "")) for row in rows) == len(figures.committed())
    assert all(row["Licence"] == "MIT-0" for row in rows)


def test_every_known_code_has_an_anchor_on_the_quality_page() -> None:
    identifiers = set(committed()["data/quality.md"].body.values("id"))
    assert set(CODES) | set(OWN_CODES) <= identifiers


def test_the_counts_of_the_quality_page_are_those_of_the_records() -> None:
    counts = Counter(warning.code for stored in figures.committed() for warning in stored.record.warnings)
    rows = {
        row["Warning"]: int(row["Times"]) for row in committed()["data/quality.md"].table("Warning codes")
    }
    assert {code: amount for code, amount in rows.items() if code not in OWN_CODES} == dict(counts)


def test_a_code_without_explanation_still_has_its_place(tmp_path: Path) -> None:
    warning = DataWarning(code="brand-new-code", text="seen once")
    pages = pages_of(tmp_path, [Made("task-a", warnings=(warning,))])
    shown = pages["data/quality.md"]
    assert "brand-new-code" in shown.body.values("id")
    assert shown.table("Cells with brand-new-code") == [
        {"Cell": "model-a, loop, fix, hello-world", "Where": "1 task"}
    ]
    assert "Each time: seen once" in shown.body.text


def test_each_code_names_its_cells_with_counts_and_an_example(tmp_path: Path) -> None:
    def warned(task: str, text: str, model: str) -> Made:
        return Made(
            task, cell=examples.cell(model), warnings=(DataWarning(code="low-output-per-turn", text=text),)
        )

    trials = [warned("task-a", "3 a turn", "one"), warned("task-b", "5 a turn", "one")]
    pages = pages_of(tmp_path, [*trials, warned("task-a", "3 a turn", "two")])
    shown = pages["data/quality.md"]
    rows = shown.table("Cells with low-output-per-turn")
    assert [(row["Cell"].split(",")[0], row["Where"]) for row in rows] == [
        ("one", "2 tasks"),
        ("two", "1 task"),
    ]
    assert "For example: 3 a turn" in shown.body.text
    assert shown.links()["two, loop, fix, hello-world"].endswith(
        "cells/two_endpoint/loop/fix/hello-world/#data-quality"
    )
    cell = pages["cells/one_endpoint/loop/fix/hello-world/index.md"]
    assert "Data quality" in cell.headings
    assert [row["What was found"] for row in cell.table("Data-quality warnings")] == ["3 a turn", "5 a turn"]


def test_the_cells_listed_on_the_quality_page_are_all_that_carry_a_code() -> None:
    expected: dict[str, set[str]] = {}
    for cell in made.committed():
        about = [warning for warning, _ in cell.warnings()]
        for warning in about + [warning for warning, _ in cell.warnings_left_out()]:
            expected.setdefault(warning.code, set()).add(cell_title(cell))
    shown = committed()["data/quality.md"]
    listed = {code: {row["Cell"] for row in shown.table(f"Cells with {code}")} for code in expected}
    assert listed == expected


def test_sweeps_of_equal_findings_share_a_row() -> None:
    rows = committed()["data/quality.md"].table("Warnings about throughput sweeps")
    pairs = [(row["Warning"], row["What was found"]) for row in rows]
    assert len(pairs) == len(set(pairs))
    named = sum(len(row["Deployments"].split(", ")) for row in rows)
    assert named == sum(len(sweep.warnings) for sweep in ResultsStore(ROOT / "results").sweeps())


def test_outcomes_are_counted_and_explained() -> None:
    rows = {row["Outcome"]: row for row in committed()["about-a-run.md"].table("Outcomes")}
    assert list(rows) == [outcome.value for outcome in Outcome]
    total = sum(int(row["Trials"].replace(",", "")) for row in rows.values())
    assert total == len(figures.committed())


def test_every_published_cell_can_be_reached_from_its_harness_page() -> None:
    pages = committed()
    for path in pages:
        if path.startswith("cells/"):
            _, model, harness, skill, dataset, _ = path.split("/")
            page = pages[f"harnesses/{harness}.md"]
            target = f"../../cells/{model}/{harness}/{skill}/{dataset}/"
            assert target in page.body.values("href"), path


def test_only_top_pages_and_lists_are_searched() -> None:
    searched = [path for path, shown in committed().items() if shown.page.in_search]
    assert not any(path.startswith(("cells/", "tasks/")) for path in searched)
    assert {"index.md", "compare.md", "methodology/cost.md", "data/index.md", "about-a-run.md"} <= set(
        searched
    )
    assert {path for path in committed() if path.startswith("models/")} <= set(searched)


def test_long_tables_of_figures_are_not_in_the_index_that_every_reader_loads() -> None:
    row = (Entry("name"), Entry("1", 1.0))
    figures_kept, figures_left, words_kept = (
        table("", (Column("Name"), said), [row] * rows).is_searched
        for said, rows in (
            (Column("Figure", "number"), LONGEST_SEARCHED),
            (Column("Figure", "number"), LONGEST_SEARCHED + 1),
            (Column("Meaning"), 500),
        )
    )
    assert (figures_kept, figures_left, words_kept) == (True, False, True)
    # Bedrock's and OpenAI's tables of prices were a tenth of the index.
    assert committed()["methodology/prices.md"].source.count("data-search-exclude") >= 2
