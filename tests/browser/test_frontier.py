"""Frontier page: every cell without scripts; with them some of the cells, kept in the address."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from generators.pages import frontier, links
from generators.pages.rendering import Renderer
from generators.pages.world import World
from generators.statistics.frontier import pareto_frontier
from generators.tables.boards import Board
from tests.browser.site import served
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

PATH = "frontier/swe3_mcp-gateway-registry/"
ROWS = "#hm-every-cell tbody tr"


@pytest.fixture(scope="module")
def board(world: World) -> Board:
    """The widest board."""
    return world.skill_boards[0][1]


@pytest.fixture(scope="module")
def site(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site with the frontier pages of the committed results."""
    files = {"index.md": "# Home\n\n[Frontiers](frontier/index.md)\n", links.STATISTICS: "# Statistics\n"}
    for page in frontier.pages(world):
        if page.path not in {links.frontiers(), links.frontier_page("swe3", "mcp-gateway-registry")}:
            continue
        files[page.path] = Renderer().render(page)
        files |= {asset.path: asset.content.decode() for asset in page.assets}
    with served(tmp_path_factory.mktemp("frontier"), files, policy=True) as url:
        yield url


@pytest.fixture
def page(context: BrowserContext, site: str) -> Iterator[Page]:
    opened = context.new_page()
    watch = Watch(opened, site)
    opened.goto(f"{site}{PATH}")
    expect(opened.locator("form[data-frontier]")).to_be_visible()
    yield opened
    watch.assert_quiet()


def box(page: Page, value: str) -> Locator:
    """The box of one harness, basis or hosting."""
    return page.locator(f'form[data-frontier] input[value="{value}"]')


def shown(page: Page) -> list[str]:
    """Addresses of the cells whose rows are visible."""
    found: list[str] = page.eval_on_selector_all(
        f"{ROWS}:not(.hm-out)", "rows => rows.map((row) => row.querySelector('a').href)"
    )
    return found


def test_every_cell_is_there_before_anything_is_chosen(page: Page, board: Board) -> None:
    assert len(shown(page)) == len(board.cells)
    expect(page.locator("figure[data-state=live]")).to_have_count(0)


def test_one_harness_leaves_its_cells_and_their_own_frontier(page: Page, world: World, board: Board) -> None:
    for name in ("kiro-cli", "pi"):
        box(page, name).uncheck()
    own = [place for place in board.placements if place.cell.identity.harness == "claude-code"]
    expect(page.locator(f"{ROWS}:not(.hm-out)")).to_have_count(len(own))
    here = page.url.partition("frontier/")[0]
    assert set(shown(page)) == {here + links.served_path(world.cell_page(place.cell)) for place in own}
    on = set()
    for basis in {place.basis for place in own}:
        members = [place for place in own if place.basis is basis]
        front = pareto_frontier([each.cost for each in members], [each.score for each in members])
        on |= {here + links.served_path(world.cell_page(members[place].cell)) for place in front}
    on_it = [
        href
        for href, text in zip(
            shown(page), page.locator(f"{ROWS}:not(.hm-out) td:nth-child(7)").all_inner_texts(), strict=True
        )
        if text.startswith("on it")
    ]
    assert set(on_it) == on
    expect(page.locator(".hm-form__status")).to_contain_text(f"{len(own)} of {len(board.placements)} points")
    expect(page.locator("figure[data-state=live]")).to_have_count(1)


def test_the_choice_stands_in_the_address_and_reset_brings_every_cell_back(page: Page, board: Board) -> None:
    before = page.locator(ROWS).all_inner_texts()
    box(page, "self-hosted").uncheck()
    expect(page.locator("figure[data-state=live]")).to_have_count(1)
    assert "hosting=cloud" in page.url
    assert "harness" not in page.url
    page.reload()
    few = sum(place.cell.hosting.value != "self-hosted" for place in board.placements)
    expect(page.locator(f"{ROWS}:not(.hm-out)")).to_have_count(few)
    page.get_by_role("button", name="Every cell").click()
    expect(page.locator(f"{ROWS}:not(.hm-out)")).to_have_count(len(before))
    assert page.locator(ROWS).all_inner_texts() == before
    assert "?" not in page.url
    expect(page.locator("figure[data-state=live]")).to_have_count(0)


def test_when_nothing_is_left_that_is_said(page: Page) -> None:
    for name in ("claude-code", "kiro-cli", "pi"):
        box(page, name).uncheck()
    expect(page.locator(".hm-form__status")).to_contain_text("No cell is left")
    assert shown(page) == []


def test_an_address_with_names_that_are_not_there_hides_all_and_breaks_nothing(
    context: BrowserContext, site: str
) -> None:
    page = context.new_page()
    watch = Watch(page, site)
    page.goto(f"{site}{PATH}?harness=%3Cscript%3Ewindow.__hacked%3D1%3C/script%3E")
    expect(page.locator(".hm-form__status")).to_contain_text("No cell is left")
    watch.assert_quiet()


def test_data_that_cannot_be_loaded_changes_nothing_and_says_so(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.route("**/data/frontier/**", lambda route: route.fulfill(status=503))
    page.goto(f"{site}{PATH}")
    box(page, "pi").uncheck()
    expect(page.locator(".hm-form__status")).to_contain_text("Nothing changed: the data")
    assert page.locator(f"{ROWS}.hm-out").count() == 0


def test_without_scripts_every_cell_is_there_and_the_filters_are_not(
    chromium_scriptless: BrowserContext, site: str, board: Board
) -> None:
    page = chromium_scriptless.new_page()
    page.goto(f"{site}{PATH}")
    expect(page.locator("form[data-frontier]")).to_be_hidden()
    expect(page.get_by_text("Without scripts, every cell is shown")).to_be_visible()
    assert page.locator(ROWS).count() == len(board.cells)
    expect(page.locator("figure svg.hm-svg--wide")).to_be_visible()
