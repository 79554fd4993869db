"""A site at other prices says so on every page; every dollar has basis and day; other ways stand beside."""

from __future__ import annotations

import dataclasses
from datetime import date
from pathlib import Path

import pytest

from generators.build import write_sources
from generators.pages.dollar_entries import cost_entry, ways_table
from generators.pages.registry import PAGE_KINDS
from generators.pages.rendering import Renderer
from generators.sources import load_worlds
from generators.tables.cells import Cell, build_cells
from runner.costs import HardwareRate, PriceBook, PriceRow, Pricing, RowPrices
from runner.costs.bases import RULE
from runner.costs.price_choice import PriceChoice, read_price_choice
from runner.records import Cost, CostBasis
from runner.store import ResultsStore
from tests.generators.pages.partial import copy_results
from tests.generators.pages.shown import Shown
from tests.generators.tables import made
from tests.generators.tables.made import ROOT, Made

TASK = "task-a"
KIRO = "claude-haiku-4-5_kiro/kiro-cli/swe3/mcp-gateway-registry"
GEMMA = "gemma-4-31b_endpoint/pi/swe3/mcp-gateway-registry"


def book() -> PriceBook:
    """One row for the model of the examples."""
    prices = RowPrices(input=4.0, output=20.0, cache_read=0.4, cache_write=5.0)
    row = PriceRow(
        provider="endpoint",
        model="vendor/model-a",
        prices=prices,
        effective_from=date(2020, 1, 1),
        source="a list",
        checked_on=date(2026, 2, 1),
    )
    return PriceBook([row])


def test_the_ways_beside_the_basis_of_a_cell_stand_in_a_table_with_basis_and_day(tmp_path: Path) -> None:
    store = made.write(tmp_path, [Made(TASK, cost=1.0), Made("task-b", cost=3.0)])
    (cell,) = build_cells(store.trials(), store.plans(), made.pricing(book()), {})
    shown = ways_table(cell)
    assert shown is not None
    rows = [[entry.text for entry in row] for row in shown.rows]
    assert rows[0][1:] == ["$4.00", "2 of 2", "metered, 2026-01-31"]
    assert rows[1][0] == "tokens times the row of the price book"
    assert rows[1][2:] == ["2 of 2", "price table, 2026-01-31"]
    assert shown.rows[0][0].note == "basis of the figures above"


def test_a_trial_page_derives_the_cost_step_by_step(tmp_path: Path) -> None:
    made.write(tmp_path, [Made(TASK, cost=1.0)])
    real, _ = load_worlds(tmp_path, ROOT / "datasets")
    (cell,) = build_cells_at(tmp_path, made.pricing(book()))
    world = dataclasses.replace(real, cells=(cell,), pricing=made.pricing(book()))
    [kind] = [kind for kind in PAGE_KINDS if kind.name == "trial"]
    [page] = list(kind.make(world, None))
    text = Shown(page, Renderer().render(page)).body.text
    for part in ("How this cost came about", "fresh input: 4,006 x 4 / 1,000,000 = $0.016024", RULE[:40]):
        assert part in text


def build_cells_at(root: Path, pricing: Pricing) -> list[Cell]:
    """Cells of the store at ``root``."""
    store = ResultsStore(root)
    return build_cells(store.trials(), store.plans(), pricing, {})


@pytest.mark.parametrize(
    ("cost", "text", "note"),
    [
        (Cost(basis=CostBasis.NONE, amount_usd=0.0, source="s"), "none", "no cost by design"),
        (
            Cost(basis=CostBasis.METERED, amount_usd=0.5, source="s", price_as_of=date(2026, 1, 31)),
            "$0.50",
            "metered, 2026-01-31",
        ),
    ],
)
def test_a_cost_is_written_with_what_it_rests_on(cost: Cost, text: str, note: str) -> None:
    entry = cost_entry(cost)
    assert (entry.text, entry.note) == (text, note)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few cells of the committed store."""
    return copy_results(tmp_path_factory.mktemp("store") / "results", [GEMMA])


def test_another_commitment_changes_the_figures_and_every_page_says_so(results: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    choice = read_price_choice(commitment="on_demand")
    write_sources(results, ROOT / "datasets", ROOT / "site_src", docs, choice)
    text = (docs / "cells" / GEMMA / "index.md").read_text(encoding="utf-8")
    assert "Other prices." in text
    assert "machines at on-demand prices" in text
    for page in docs.rglob("cells/**/*.md"):
        assert "Other prices." in page.read_text(encoding="utf-8")
    usual, _ = load_worlds(results, ROOT / "datasets")
    dear, _ = load_worlds(results, ROOT / "datasets", choice=choice)
    (one,), (two,) = usual.cells, dear.cells
    cheap, high = usual.rates.rate_for("gemma-4-31b"), dear.rates.rate_for("gemma-4-31b")
    assert isinstance(cheap, HardwareRate)
    assert isinstance(high, HardwareRate)
    first, second = one.figures["spend_total"].amount, two.figures["spend_total"].amount
    assert first is not None
    assert second is not None
    assert second == pytest.approx(first * high.usd_per_hour / cheap.usd_per_hour, rel=1e-9)
    assert second > first


def test_a_credit_plan_prices_the_credits_of_its_vendor_and_nothing_else(tmp_path: Path) -> None:
    results = copy_results(tmp_path / "results", [KIRO, GEMMA])
    choice = read_price_choice(credit_plan="pro", datasets=ROOT / "datasets")
    usual, _ = load_worlds(results, ROOT / "datasets")
    moved, _ = load_worlds(results, ROOT / "datasets", choice=choice)
    for before, after in zip(usual.cells, moved.cells, strict=True):
        was, now = before.figures["spend_total"], after.figures["spend_total"]
        assert was.amount is not None
        halved = before.identity.harness == "kiro-cli"
        assert now.amount == pytest.approx(was.amount / 2 if halved else was.amount)
        assert now.priced is not None
        assert not halved or now.priced.basis is CostBasis.CREDITS
    page = next(iter(PAGE_KINDS[0].make(moved, None)))
    assert "credits of kiro at its plan pro" in Renderer(notice=moved.choice.words).render(page)


def test_the_usual_prices_say_nothing_of_other_ones(results: Path) -> None:
    real, _ = load_worlds(results, ROOT / "datasets", choice=PriceChoice())
    page = next(iter(PAGE_KINDS[0].make(real, None)))
    assert "Other prices" not in Renderer(notice=real.choice.words).render(page)
