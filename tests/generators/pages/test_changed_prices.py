"""Changed prices: one row changes what depends on it and nothing else; an unknown price is never free."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from generators.build import write_sources
from generators.sources import load_worlds
from tests.generators.pages.dollars import tree
from tests.generators.pages.partial import change_row, copy_datasets, copy_results, without_costs
from tests.generators.tables.made import ROOT

OPUS = "anthropic.claude-opus-4-8"
HAIKU = "anthropic.claude-haiku-4-5"
V1 = "mcp-gateway-registry"
HAIKU_PI = f"claude-haiku-4-5_bedrock/pi/swe3/{V1}"
SONNET_PI = f"claude-sonnet-5_bedrock/pi/swe3/{V1}"
OPUS_PI = f"claude-opus-4-8_bedrock/pi/swe3/{V1}"
CELLS = (
    "claude-opus-4-8_bedrock",
    HAIKU_PI,
    SONNET_PI,
    f"claude-haiku-4-5_kiro/kiro-cli/swe3/{V1}",
    f"gemma-4-31b_endpoint/pi/swe3/{V1}",
)
PARQUET = {"trials.parquet", "cells.parquet", "cost_comparisons.parquet"}
"""Compressed, so that no name in them can be read here; the CSV files beside them are compared."""
Row = dict[str, object]
Key = tuple[object, ...]
IDENTITY = ("model", "provider", "harness", "skill", "dataset", "task", "trial")


@dataclass(frozen=True)
class Site:
    """Sources of a site and what they were made from."""

    results: Path
    datasets: Path
    docs: Path

    def table(self, name: str) -> list[Row]:
        """Rows of an exported table."""
        content = json.loads((self.docs / "data" / f"{name}.json").read_text(encoding="utf-8"))
        columns = content["columns"]
        return [{head: columns[head][place] for head in columns} for place in range(content["rows"])]

    def files(self) -> dict[str, bytes]:
        """Every file below ``data/`` by its path."""
        folder = self.docs / "data"
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


def site(root: Path, name: str, results: Path, datasets: Path) -> Site:
    """Build the sources."""
    write_sources(results, datasets, ROOT / "site_src", root / name)
    return Site(results, datasets, root / name)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of some published cells at the committed prices."""
    root = tmp_path_factory.mktemp("before")
    return site(root, "docs", copy_results(root / "results", CELLS), copy_datasets(root / "datasets"))


def key(row: Row) -> Key:
    """Which trial a row is about."""
    return tuple(row[name] for name in IDENTITY)


def dependents(of: Site, model: str, region: str) -> set[Key]:
    """Trials whose costs were derived with the standard row of a model."""
    world, _ = load_worlds(of.results, of.datasets)
    found: set[Key] = set()
    for cell in world.cells:
        for trial in cell.trials:
            table = trial.costs.table
            rows = [part.answer.row for part in table.parts if part.answer.row] if table else []
            if any(row.model == model and row.region_class.value == region for row in rows):
                identity = trial.record.identity
                found.add(
                    (
                        identity.cell.model.slug,
                        identity.cell.provider,
                        identity.cell.harness,
                        identity.cell.skill,
                        identity.cell.dataset,
                        identity.task,
                        identity.trial,
                    )
                )
    return found


def changed(first: Site, second: Site, name: str) -> list[tuple[Row, Row]]:
    """Rows of a table that differ, with what they were."""
    old, new = first.table(name), second.table(name)
    assert len(old) == len(new)
    return [(was, now) for was, now in zip(old, new, strict=True) if was != now]


def test_one_changed_price_row_changes_exactly_what_depends_on_it(before: Site, tmp_path: Path) -> None:
    datasets = copy_datasets(tmp_path / "datasets")
    change_row(datasets, OPUS, "regional", "input: 5.5", "input: 7.5")
    after = site(tmp_path, "docs", before.results, datasets)
    wanted = dependents(before, OPUS, "regional")
    assert len(wanted) == 17

    trials = changed(before, after, "trials")
    assert {key(now) for _, now in trials} == wanted
    money = {name for was, now in trials for name in now if was[name] != now[name]}
    assert all(name.startswith("cost_") for name in money)
    assert "cost_price_table_usd" in money

    compared = changed(before, after, "cost_comparisons")
    assert {key(now) for _, now in compared if now["scope"] == "trial"} <= wanted
    assert {now["model"] for _, now in compared} == {"claude-opus-4-8"}

    # One opus cell has no bill, so its headline rests on the row; the others keep theirs.
    both = changed(before, after, "cells")
    assert {now["model"] for _, now in both} == {"claude-opus-4-8"}
    heads = [(was, now) for was, now in both if was["spend_total"] != now["spend_total"]]
    agree = {"cost_agreement", "cost_beyond", "cost_ratio", "cost_reasons"}
    for old, new in both:
        moved = {name for name in new if old[name] != new[name]}
        assert (old, new) in heads or moved <= agree, moved
    assert [(now["harness"], now["dataset"]) for _, now in heads] == [("strands", "hello-world-sanity")]
    assert {name for was, now in heads for name in now if was[name] != now[name]} <= {
        name for name in heads[0][1] if "cost" in name or "spend" in name
    }
    cells = {who[:5] for who in wanted}
    now = after.files()
    for path, content in before.files().items():
        assert now[path] == content or b"claude-opus-4-8" in content or path in PARQUET, path
        if path.endswith("run-summary.json"):
            model, harness, skill, dataset = path.split("/")[1:5]
            depends = (*model.split("_"), harness, skill, dataset) in cells
            assert (now[path] != content) == depends, path
    changed_tables = {path for path in now if path.endswith(".csv") and now[path] != before.files()[path]}
    assert changed_tables == {"trials.csv", "cells.csv", "cost_comparisons.csv"}


def test_a_price_of_another_model_changes_nothing(before: Site, tmp_path: Path) -> None:
    datasets = copy_datasets(tmp_path / "datasets")
    change_row(datasets, "anthropic.claude-opus-5", "regional", "input: 5.5", "input: 9.5")
    after = site(tmp_path, "docs", before.results, datasets)
    assert after.files() == before.files()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The same cells; one has no bill and no price for cached tokens, another lacks one task's."""
    root = tmp_path_factory.mktemp("planted")
    results, datasets = copy_results(root / "results", CELLS), copy_datasets(root / "datasets")
    assert without_costs(results, HAIKU_PI) == 5
    assert without_costs(results, OPUS_PI, ["remove-faiss"]) == 1
    change_row(datasets, HAIKU, "regional", "cache_read: 0.11, ", "")
    change_row(datasets, OPUS, "regional", "cache_read: 0.55, ", "")
    return site(root, "docs", results, datasets)


def rows_about(of: Site, name: str) -> Iterator[tuple[str, str]]:
    """Every row that names a cell by its link, in every table with a column for its cost, and its text."""
    for page in sorted(of.docs.rglob("*.md")):
        source = page.read_text(encoding="utf-8")
        if name not in source:
            continue
        for node in tree(source).walk():
            table = node.above("table") if node.tag == "tr" else None
            if table is None or not any(name in each.attributes.get("href", "") for each in node.walk()):
                continue
            heads = {each.text.strip().split("  ")[-1] for each in table.walk() if each.above("thead")}
            if any(head.startswith("Cost") for head in heads):
                yield page.relative_to(of.docs).as_posix(), node.text


def test_an_unknown_price_is_shown_as_not_priced_wherever_the_cell_is(planted: Site) -> None:
    found = [
        (page, text)
        for page, text in rows_about(planted, "claude-haiku-4-5_bedrock/pi/swe3/mcp-gateway-registry/")
        if not page.startswith(("data/", "methodology/"))
    ]
    pages = {page for page, _ in found}
    assert {"harnesses/pi/swe3.md", "models/claude-haiku-4-5.md", "skills/swe3.md"} <= pages
    for page, text in found:
        assert "not priced" in text, (page, text)
        assert "$0" not in text, (page, text)
    own = (planted.docs / "cells" / HAIKU_PI / "index.md").read_text(encoding="utf-8")
    assert own.count("not priced") > 5
    assert "$0" not in own


def test_an_unknown_price_joins_no_mean_and_says_how_many_are_known(planted: Site, before: Site) -> None:
    cells = {
        (row["model"], row["provider"], row["harness"], row["skill"]): row for row in planted.table("cells")
    }
    haiku = cells["claude-haiku-4-5", "bedrock", "pi", "swe3"]
    for name in ("cost_per_task", "median_cost_per_task", "spend_total", "cost_per_scored_task"):
        assert haiku[name] is None, name
    assert haiku["cost_per_task_n"] == 0
    opus = cells["claude-opus-4-8", "bedrock", "pi", "swe3"]
    assert (opus["cost_per_task_n"], opus["cost_per_task_m"]) == (4, 5)
    known = [
        row["cost_usd"]
        for row in before.table("trials")
        if (row["model"], row["harness"], row["task"] != "remove-faiss") == ("claude-opus-4-8", "pi", True)
    ]
    amounts = [amount for amount in known if isinstance(amount, float)]
    assert len(amounts) == 4
    assert opus["cost_per_task"] == pytest.approx(sum(amounts) / 4)


def test_an_unknown_price_is_no_point_and_on_no_frontier(planted: Site, before: Site) -> None:
    def boards(of: Site) -> list[tuple[list[str], set[str]]]:
        world, _ = load_worlds(of.results, of.datasets)
        return [
            (
                [place.cell.identity.model.slug for place in board.placements],
                {place.cell.identity.model.slug for place in board.placements if place.on_basis_frontier},
            )
            for board in world.boards("pi", "swe3")
        ]

    [(placed, frontier)] = boards(before)
    assert "claude-haiku-4-5" in frontier, "the planted cell is on the frontier while its price is known"
    [(placed_now, frontier_now)] = boards(planted)
    assert set(placed) - set(placed_now) == {"claude-haiku-4-5"}
    assert "claude-haiku-4-5" not in frontier_now
    page = (planted.docs / "harnesses" / "pi" / "swe3.md").read_text(encoding="utf-8")
    assert "Not on the chart: claude-haiku-4-5" in page
