"""What if: the browser prices every cell as Python does at the same prices, and the page follows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from generators.pages import what_if
from generators.pages.rendering import Renderer
from generators.pages.world import World
from generators.sources import load_worlds
from generators.statistics.frontier import pareto_frontier
from generators.tables.boards import Board, build_boards
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from generators.tables.sample import Sample
from generators.tables.what_if import board_export
from runner.costs import Commitment, HardwareRates, InstancePrices
from runner.costs.bases import Pricing, costs_of, day_of
from runner.costs.price_choice import read_price_choice
from runner.records import CacheSemantics, CostBasis
from tests.browser.site import ROOT, served
from tests.browser.watch import Watch
from tests.generators.pages.dollars import BASIS, DAY

pytestmark = pytest.mark.browser

TABLE = '.hm-scroll[aria-label^="Cells at the published"] tbody tr'


@pytest.fixture(scope="module")
def site(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site with the what-if page of the committed results."""
    page = next(iter(what_if.pages(world)))
    files = {asset.path: asset.content.decode() for asset in page.assets}
    files["index.md"] = "# Home\n\n[What if](what-if.md)\n"
    files[page.path] = Renderer().render(page)
    files["methodology/cost.md"] = "# Methodology\n"
    for cell in world.cells:
        files[world.cell_page(cell)] = "# A cell\n"
    with served(tmp_path_factory.mktemp("what-if"), files, policy=True) as url:
        yield url


@pytest.fixture
def page(context: BrowserContext, site: str) -> Iterator[Page]:
    opened = context.new_page()
    watch = Watch(opened, site)
    opened.goto(f"{site}what-if/")
    expect(opened.locator("form[data-what-if]")).to_be_visible()
    expect(opened.get_by_text("Without scripts")).to_be_hidden()
    yield opened
    watch.assert_quiet()


def lens(source: random.Random) -> dict[str, Any]:
    """Prices that a reader may enter; None leaves a field as it is."""
    day = date(2026, 5, 1) + timedelta(days=source.randint(0, 240))
    return {
        "date": source.choice([None, day.isoformat()]),
        "hitRate": source.choice([None, None, 0.0, 0.95, source.random()]),
        "commitment": source.choice([kind.value for kind in Commitment]),
        "usdPerGpuHour": source.choice([None, None, source.uniform(0.1, 20)]),
        "usdPerCredit": source.choice([None, None, 0.02, source.uniform(0.001, 1)]),
        "plan": source.choice([None, "kiro/pro", "kiro/power:overage"]),
    }


def priced_by_python(
    cell: Cell, pricing: Pricing, asked: dict[str, Any]
) -> tuple[str | None, float | None, int]:
    """Basis, mean cost and how many trials it rests on, by the code that builds the site."""
    chosen = _pricing(pricing, asked)
    facts = tuple(_priced(trial, chosen, asked["hitRate"]) for trial in cell.sample.graded)
    sample = Sample(facts, cell.sample.planned)
    value = replace(cell, counted=facts).figures["cost_per_task"]
    return (None if sample.basis is None else sample.basis.value), value.amount, value.n


def _pricing(pricing: Pricing, asked: dict[str, Any]) -> Pricing:
    commitment = Commitment(asked["commitment"])
    prices = pricing.rates.prices
    if asked["usdPerGpuHour"] is not None:
        listed = {
            name: {**price.model_dump(), "usd_per_hour": {commitment: asked["usdPerGpuHour"] * price.gpus}}
            for name, price in prices.instances.items()
        }
        prices = InstancePrices.model_validate({**prices.model_dump(), "instances": listed})
    sweeps = [pricing.rates.sweep_of(name) for name in pricing.rates.deployments()]
    rates = HardwareRates([sweep for sweep in sweeps if sweep is not None], prices, commitment)
    day = date.fromisoformat(asked["date"]) if asked["date"] else None
    plans = pricing.plans
    assert plans is not None
    plan = plans.chosen(asked["plan"]) if asked["plan"] else None
    return Pricing(pricing.book, rates, day, asked["usdPerCredit"], plans, plan)


def _priced(trial: TrialFacts, pricing: Pricing, hit_rate: float | None) -> TrialFacts:
    if hit_rate is None:
        return replace(trial, costs=costs_of(trial.record, pricing))
    record, usage = trial.record, trial.record.usage
    day = pricing.day_for(day_of(record))
    if (
        trial.costs.table is not None
        and usage is not None
        and usage.cache_semantics is not CacheSemantics.UNKNOWN
    ):
        counts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        if None not in counts:
            fresh, read, write = (count or 0 for count in counts)
            prompt = fresh if usage.cache_semantics is CacheSemantics.PARTITION else fresh + read + write
            hits = prompt * hit_rate
            # Whole tokens are all that a record holds; the browser goes on with fractions of them.
            usage = usage.model_copy(
                update={
                    "input_tokens": prompt - hits,
                    "cache_read_tokens": hits,
                    "cache_write_tokens": 0,
                    "cache_semantics": CacheSemantics.DISJOINT,
                }
            )
            record = record.model_copy(update={"usage": usage})
    moved = costs_of(record, replace(pricing, price_date=day))
    return replace(trial, costs=moved)


def test_the_browser_prices_every_cell_as_python_does(page: Page, world: World, site: str) -> None:
    source = random.Random(6)
    pairs = sorted({(cell.identity.skill, cell.identity.dataset) for cell in world.cells})
    boards: list[tuple[str, Board]] = [
        (skill, build_boards(world.select(skill=skill, dataset=dataset))[0]) for skill, dataset in pairs
    ]
    compared = 0
    for skill, board in boards:
        lenses = [lens(source) for _ in range(12)]
        address = f"{site}data/what-if/{skill}-{board.dataset}.json"
        found = page.evaluate(
            """async ([address, lenses]) => {
              const data = await (await fetch(address)).json();
              const { cellCost, frontier } = window.Harnessmark.arithmetic;
              return lenses.map((lens) => {
                const costs = data.cells.map((cell) => cellCost(cell, data, lens));
                const points = data.cells.map((cell, i) => ({ cost: costs[i].usd, score: cell.score }));
                const placed = points.filter((each) => each.cost !== null && each.score !== null);
                return { costs, points, frontier: frontier(placed), placed };
              });
            }""",
            [address, lenses],
        )
        cells = [cell for cell in board.cells if cell.sample.graded]
        for asked, there in zip(lenses, found, strict=True):
            assert there["frontier"] == pareto_frontier(
                [each["cost"] for each in there["placed"]], [each["score"] for each in there["placed"]]
            )
            for cell, cost in zip(cells, there["costs"], strict=True):
                basis, usd, count = priced_by_python(cell, world.pricing, asked)
                assert (cost["basis"], cost["n"]) == (basis, count), (cell.key, asked)
                # The price book rounds each price to a millionth of a dollar.
                assert cost["usd"] == (None if usd is None else pytest.approx(usd, rel=1e-9, abs=2e-6)), (
                    cell.key,
                    asked,
                )
                compared += usd is not None
    assert compared > 300


def test_a_price_changes_the_table_the_chart_and_the_address_and_reset_brings_all_back(page: Page) -> None:
    row = page.locator(TABLE, has_text="glm-5.2").first
    published = row.inner_text()
    page.get_by_label("USD per GPU hour").fill("34.65")
    expect(row.locator("td").nth(3)).to_contain_text("$40.30")
    expect(page.locator(".hm-form__status")).to_contain_text("Your prices: ")
    expect(page.locator("figure[data-state=live]")).to_have_count(1)
    assert "gpu=34.65" in page.url
    page.reload()
    expect(page.locator(TABLE, has_text="glm-5.2").first.locator("td").nth(3)).to_contain_text("$40.30")
    page.get_by_role("button", name="As published").click()
    expect(page.locator(".hm-form__status")).to_have_text("")
    assert page.locator(TABLE, has_text="glm-5.2").first.inner_text() == published
    assert "?" not in page.url
    expect(page.locator("figure[data-state=live]")).to_have_count(0)


def test_another_comparison_is_shown_at_its_published_prices(page: Page) -> None:
    page.get_by_label("Comparison").select_option(label="swe2 on mcp-gateway-registry")
    expect(page.locator(".hm-form__status")).to_contain_text("Published prices: ")
    for row in page.locator(TABLE).all():
        shown = [cell.inner_text().split()[0] for cell in row.locator("td.hm-number").all()]
        assert shown[1] == shown[2] or {"not"} == set(shown[1:])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("USD per GPU hour", "9"),
        ("USD per credit", "0.02"),
        ("or credits of the plan", "kiro/pro"),
        (None, ""),
    ],
)
def test_dollars_at_other_prices_still_say_what_they_rest_on_and_the_day(
    page: Page, field: str | None, value: str
) -> None:
    if field is None:
        page.get_by_label("Comparison").select_option(label="swe2 on mcp-gateway-registry")
    elif "/" in value:
        page.get_by_label(field).select_option(value)
        expect(page.locator(TABLE, has_text="plan pro, from 2026-04-02 on")).to_have_count(5)
        assert "plan=kiro%2Fpro" in page.url
    else:
        page.get_by_label(field).fill(value)
    expect(page.locator(".hm-form__status")).to_contain_text("cells are priced")
    rows = page.locator(TABLE).all()
    for cell in [cell for row in rows for cell in row.locator("td.hm-number").all()[1:]]:
        text = cell.inner_text()
        if "not priced" not in text:
            assert BASIS.search(text), text
            assert DAY.search(text) or "at your price of a" in text, text
            assert " of " in text


def test_a_site_built_at_the_prices_of_a_day_shows_these_until_the_reader_asks_for_others(
    page: Page,
) -> None:
    choice = read_price_choice(price_date="2026-06-10", credit_plan="pro", datasets=ROOT / "datasets")
    moved = load_worlds(ROOT / "results", ROOT / "datasets", choice=choice)[0]
    board = build_boards(moved.select(skill="swe3", dataset="mcp-gateway-registry"))[0]
    keys = ["/".join(cell.key) for cell in board.cells]
    data = board_export(board, moved.pricing, dict.fromkeys(keys, ""), {key: {} for key in keys})
    untouched = {
        "date": None,
        "hitRate": None,
        "commitment": moved.rates.commitment.value,
        "usdPerGpuHour": None,
        "usdPerCredit": None,
    }
    found = page.evaluate(
        "([data, lens]) => data.cells.map((c) => window.Harnessmark.arithmetic.cellCost(c, data, lens))",
        [data, untouched],
    )
    cells = [cell for cell in board.cells if cell.sample.graded]
    for cell, cost in zip(cells, found, strict=True):
        value = cell.figures["cost_per_task"]
        assert cost["basis"] == (None if cell.basis is None else cell.basis.value), cell.key
        usd = None if value.amount is None else pytest.approx(value.amount, rel=1e-9, abs=2e-6)
        assert (cost["usd"], cost["n"]) == (usd, value.n), cell.key
    assert any(cell.basis is CostBasis.PRICE_TABLE for cell in cells)


def test_what_has_no_price_at_the_asked_day_is_not_priced_and_on_no_frontier(page: Page, site: str) -> None:
    data = json.loads(
        page.evaluate(
            "async (url) => (await fetch(url)).text()", f"{site}data/what-if/swe3-mcp-gateway-registry.json"
        )
    )
    for cell in data["cells"]:
        for trial in cell["trials"]:
            trial["ways"], trial["deployment"] = [], None
    old = {
        "date": "1999-01-01",
        "hitRate": None,
        "commitment": "spot",
        "usdPerGpuHour": None,
        "usdPerCredit": None,
    }
    found = page.evaluate(
        "([data, lens]) => data.cells.map((c) => window.Harnessmark.arithmetic.cellCost(c, data, lens))",
        [data, old],
    )
    assert {each["usd"] for each in found} == {None}
    assert {each["n"] for each in found} == {0}


def test_data_that_cannot_be_loaded_changes_nothing_and_says_so(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.goto(f"{site}what-if/")
    page.route("**/data/what-if/**", lambda route: route.fulfill(status=503))
    before = page.locator(TABLE).all_inner_texts()
    page.get_by_label("USD per credit").fill("1")
    expect(page.locator(".hm-form__status")).to_contain_text("Nothing changed: the data")
    assert page.locator(TABLE).all_inner_texts() == before


def test_without_scripts_the_published_figures_are_there(
    chromium_scriptless: BrowserContext, site: str
) -> None:
    page = chromium_scriptless.new_page()
    page.goto(f"{site}what-if/")
    expect(page.locator("form[data-what-if]")).to_be_hidden()
    expect(page.get_by_text("Without scripts, this page shows the published figures only.")).to_be_visible()
    assert page.locator(TABLE).count() > 20
