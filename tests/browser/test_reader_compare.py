"""Reader: is one cell better than another, and what would separate two; from home in three clicks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from generators.pages import words
from generators.pages.compare_data import cell_id
from generators.pages.pair_words import deciding_text, names_of, verdict_text
from generators.pages.world import World
from generators.statistics.verdict import Deciding, Word
from generators.tables.comparisons import Compared
from generators.tables.pair_table import PairTable
from tests.browser.test_reader import MOST_CLICKS, Reader
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture
def reader(context: BrowserContext, published: str) -> Iterator[Reader]:
    """A reader on the home page, whose clicks are counted."""
    page = context.new_page()
    watch = Watch(page, published)
    page.goto(published)
    found = Reader(page)
    yield found
    watch.assert_quiet()
    assert found.clicks == MOST_CLICKS


def compares(reader: Reader, pair: Compared, title: str) -> None:
    """From home to a pair."""
    page = reader.page
    reader.click(page.get_by_role("link", name="Compare two cells"))
    expect(page.locator("form[data-compare]")).to_be_visible()
    for field, cell in (("One cell", pair.first), ("The other cell", pair.second)):
        page.get_by_label(field).select_option(cell_id(cell))
        reader.clicks += 1
    expect(page.locator('[data-compare-part="title"]')).to_have_text(title)


def fact(page: Page, name: str) -> str:
    """What the page says under a name."""
    found = page.locator('[data-compare-part="facts"] dl > div', has=page.locator("dt", has_text=name))
    return found.locator("dd").inner_text()


def pairs_with(world: World, word: Word, deciding: Deciding) -> list[tuple[PairTable, Compared]]:
    """Pairs with a word that a number decided."""
    return [
        (table, each)
        for table in world.pair_tables
        for each in table.compared
        if each.verdict is not None and (each.verdict.word, each.verdict.deciding) == (word, deciding)
    ]


@pytest.mark.parametrize(
    ("word", "deciding"),
    [
        (Word.BETTER, Deciding.P_VALUE),
        (Word.TIE, Deciding.INTERVAL_END),
        (Word.NOT_ENOUGH, Deciding.P_VALUE),
        (Word.NOT_ENOUGH, Deciding.TASKS),
    ],
)
def test_is_one_better_than_the_other(reader: Reader, world: World, word: Word, deciding: Deciding) -> None:
    table, pair = pairs_with(world, word, deciding)[-1]
    assert pair.verdict is not None
    names = names_of(table)
    compares(reader, pair, f"{names[pair.first.key]} against {names[pair.second.key]}")
    expect(reader.page.locator('[data-compare-part="verdict"]')).to_have_text(verdict_text(pair, names))
    assert fact(reader.page, "Number that decided") == deciding_text(pair.verdict)


@pytest.mark.parametrize("deciding", [Deciding.P_VALUE, Deciding.TASKS])
def test_how_many_more_tasks_would_separate_two(reader: Reader, world: World, deciding: Deciding) -> None:
    table, pair = next(
        (table, each)
        for table, each in pairs_with(world, Word.NOT_ENOUGH, deciding)
        if each.verdict and each.verdict.plan and each.verdict.plan.cost_usd
    )
    assert pair.verdict is not None
    plan = pair.verdict.plan
    assert plan is not None
    assert plan.cost_usd is not None
    names = names_of(table)
    compares(reader, pair, f"{names[pair.first.key]} against {names[pair.second.key]}")
    said = re.fullmatch(
        r"(?:about|at least) (\d+) more common tasks?.*", fact(reader.page, "What would decide it")
    )
    assert said is not None
    assert int(said.group(1)) == plan.more
    price = fact(reader.page, "Price of that")
    assert price.startswith(f"about {words.dollars(plan.cost_usd)}")
    assert words.basis(pair.first.basis) in price
