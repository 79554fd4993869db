"""Reader: questions answered from home in at most three clicks, each answer asserted from the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from generators.pages.world import World
from generators.tables.boards import build_boards
from generators.tables.cells import Cell
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

MOST_CLICKS = 3


class Reader:
    """Someone at the home page, who counts clicks; choosing in a list or typing in a field is one, too."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, target: Locator) -> None:
        """Click."""
        self.clicks += 1
        target.click()

    def choose(self, target: Locator, label: str) -> None:
        """Choose from a list."""
        self.clicks += 1
        target.select_option(label=label)

    def enter(self, target: Locator, text: str) -> None:
        """Fill a field."""
        self.clicks += 1
        target.fill(text)


@pytest.fixture
def reader(context: BrowserContext, published: str) -> Iterator[Reader]:
    page = context.new_page()
    watch = Watch(page, published)
    page.goto(published)
    found = Reader(page)
    yield found
    watch.assert_quiet()
    assert found.clicks <= MOST_CLICKS


def cheapest(world: World, skill: str, dataset: str, floor: float) -> Cell:
    """The cell with the lowest known cost per task among those that reach the floor, from the cells alone."""
    found = []
    for cell in build_boards(world.select(skill=skill, dataset=dataset))[0].cells:
        score = cell.figures["score_with_failures"].amount
        cost = cell.figures["cost_per_task"].amount
        if score is not None and cost is not None and score >= floor:
            found.append((cost, cell.key, cell))
    return min(found)[2]


@pytest.mark.parametrize(
    ("skill", "dataset", "floor"),
    [
        ("swe3", "mcp-gateway-registry", 60),
        ("swe3", "mcp-gateway-registry-v2", 60),
        ("swe3", "mcp-gateway-registry-v2", 78),
        ("swe2", "mcp-gateway-registry", 60),
    ],
)
def test_the_cheapest_cell_with_a_score_above_a_bar_on_a_dataset(
    reader: Reader, world: World, skill: str, dataset: str, floor: int
) -> None:
    cell = cheapest(world, skill, dataset, floor)
    page = reader.page
    if (skill, dataset) != world.widest:
        reader.choose(page.get_by_label("Skill and dataset"), f"{skill} on {dataset}")
    if floor != 60:
        reader.enter(page.get_by_label("Quality floor"), str(floor))
    name = f"{cell.identity.model.slug} · {cell.identity.harness}"
    headline = page.locator("[data-part=headline]")
    shown = (dataset, floor) == ("mcp-gateway-registry-v2", 60)
    reach = f"that reaches {floor}" if shown else f"seen at {floor} or more"
    expect(headline).to_have_text(f"Cheapest {reach}: {name}")
    facts = page.locator("[data-part=facts]")
    score, cost = cell.figures["mean_score"], cell.figures["cost_per_task"]
    expect(facts).to_contain_text(f"{score.amount:.1f} ({score.n} of {score.m})")
    expect(facts).to_contain_text(f"${cost.amount:.2f} ({cost.n} of {cost.m})")
    assert cell.basis is not None
    expect(facts).to_contain_text(
        cell.basis.value.replace("-", " ") if cell.basis == "price-table" else cell.basis.value
    )
    reader.click(headline.get_by_role("link"))
    expect(page).to_have_url(re.compile("/cells/" + "/".join(map(re.escape, cell.key)) + "/$"))
    assert urlsplit(page.url).query == ""


def test_how_many_more_tasks_would_separate_the_cheapest_from_the_next(reader: Reader, world: World) -> None:
    reader.choose(reader.page.get_by_label("Skill and dataset"), "swe3 on mcp-gateway-registry-v2")
    first = cheapest(world, "swe3", "mcp-gateway-registry-v2", 60)
    assert first.identity.model.slug == "claude-sonnet-5-5"
    run = reader.page.locator("[data-part=run]")
    expect(run).to_contain_text("To separate claude-sonnet-5-5 · strands from claude-sonnet-5 · pi")
    said = re.search(r"about (\d+) more common tasks", run.inner_text())
    assert said is not None
    costs = [
        cell.figures["cost_per_task"].amount or 0.0
        for cell in world.select(dataset="mcp-gateway-registry-v2")
        if cell.key[:2] in {("claude-sonnet-5-5_bedrock", "strands"), ("claude-sonnet-5_bedrock", "pi")}
    ]
    for cost in costs:
        assert f"${int(said[1]) * cost:,.2f}" in run.inner_text()
