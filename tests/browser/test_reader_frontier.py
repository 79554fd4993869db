"""A reader with two questions: each answered in at most three clicks from home, and as the data say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from generators.pages import words
from generators.pages.charting import label
from generators.pages.world import World
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

MOST_CLICKS = 3


class Reader:
    """Opens the home page and then only clicks."""

    def __init__(self, page: Page, site: str) -> None:
        self.page, self.clicks = page, 0
        page.goto(site)

    def click(self, name: str, *, within: str = "main") -> None:
        """Follow the first link of this name."""
        self.page.locator(within).get_by_role("link", name=name, exact=True).first.click()
        self.clicks += 1


@pytest.fixture
def reader(context: BrowserContext, published: str) -> Iterator[Reader]:
    page = context.new_page()
    watch = Watch(page, published)
    yield Reader(page, published)
    watch.assert_quiet()


def test_which_cells_could_be_on_the_frontier(reader: Reader, world: World) -> None:
    skill, board = world.skill_boards[0]
    reader.click("Frontier", within=".md-tabs")
    reader.click(f"{skill} on {board.dataset}")
    assert reader.clicks <= MOST_CLICKS
    expect(reader.page.get_by_role("heading", name="Which cells could be on the frontier")).to_be_visible()
    found = reader.page.locator(".hm-possible li").all_inner_texts()
    expected = [
        (label(place.cell, with_harness=True), words.percent(place.membership))
        for basis in board.bases
        for place in sorted(board.placements, key=lambda each: (-each.membership, each.cost, each.cell.key))
        if place.basis is basis and (place.on_basis_frontier or place.membership >= 0.05)
    ]
    assert [(text.split("\n")[0].strip(), text.split("\n")[1].split(",")[0]) for text in found] == expected
    assert len(expected) > len(board.frontier(None))


def test_what_a_cell_cost_and_on_what_basis(reader: Reader, world: World) -> None:
    skill, board = world.skill_boards[0]
    place = board.frontier(board.bases[-1])[-1]
    reader.click("Frontier", within=".md-tabs")
    reader.click(f"{skill} on {board.dataset}")
    reader.click(label(place.cell, with_harness=True))
    assert reader.clicks <= MOST_CLICKS
    cost = place.cell.figures["cost_per_task"]
    assert cost.amount is not None
    tile = reader.page.locator(".hm-tiles li", has_text="Cost per task")
    expect(tile).to_contain_text(words.dollars(cost.amount))
    expect(tile).to_contain_text(words.n_of_m(cost))
    expect(tile).to_contain_text(words.priced(cost.priced))
    assert words.basis(place.basis) in words.priced(cost.priced)
