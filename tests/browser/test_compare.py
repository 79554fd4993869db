"""Compare: the browser shows of every pair what Python says of it, and draws what Python draws."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from generators.charts.difference import Difference, difference_svg
from generators.charts.dumbbell import POINTS, Dumbbell, dumbbell_svg
from generators.pages.compare import difference_entry
from generators.pages.compare_data import cell_id, quality_of, tasks_of_table
from generators.pages.pair_words import FACTS, amounts_of, names_of, pair_words
from generators.pages.world import World
from generators.statistics.verdict import MARGIN
from generators.tables.comparisons import Compared
from generators.tables.pair_table import PairTable
from tests.browser.watch import Watch
from tests.generators.pages.dollars import amounts
from tests.hostile import corpus

pytestmark = pytest.mark.browser
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
READ = """() => {
  const texts = (nodes) => [...nodes].map((node) => node.textContent.replace(/\\s+/g, " ").trim());
  const part = (name) => document.querySelector(`[data-compare-part="${name}"]`);
  const rows = (root) => [...root.querySelectorAll("tbody tr")].map((row) => texts(row.cells));
  const where = (each) => each.getAttribute("d") ?? `${each.getAttribute("x")} ${each.getAttribute("y")}`;
  const drawn = (root) => [...root.querySelectorAll("svg")].map((svg) => [...svg.children].map(
    (each) => [each.tagName, each.getAttribute("class"), where(each), each.textContent]));
  return {
    title: part("title").textContent.trim(), verdict: part("verdict").textContent,
    good: part("verdict").dataset.good,
    names: texts(part("facts").querySelectorAll("dt")), facts: texts(part("facts").querySelectorAll("dd")),
    measures: rows(part("measures")), tasks: rows(part("tasks")),
    difference: drawn(part("difference")),
    chart: drawn(document.querySelector("#chart-compare-tasks .hm-chart__stage")),
    legend: texts(document.querySelectorAll("#chart-compare-tasks .hm-legend li")),
    profile: rows(document.querySelector("#chart-compare-profile")),
  };
}"""
CHOOSE = """([first, second]) => {
  const form = document.querySelector("form[data-compare]");
  for (const [name, value] of [["first", first], ["second", second]]) {
    form.elements[name].value = value;
    form.elements[name].dispatchEvent(new Event("change"));
  }
  return [form.elements.first.value, form.elements.second.value];
}"""


@pytest.fixture
def site(published: str) -> str:
    """Address of the site of the committed results."""
    return published


@pytest.fixture
def page(context: BrowserContext, site: str) -> Iterator[Page]:
    """The comparison, watched."""
    opened = context.new_page()
    watch = Watch(opened, site)
    opened.goto(f"{site}compare/")
    expect(opened.locator("form[data-compare]")).to_be_visible()
    yield opened
    watch.assert_quiet()


def table_of(world: World, title: str) -> PairTable:
    """The pairs of a skill and dataset."""
    return next(each for each in world.pair_tables if each.title == title)


def shown_after(page: Page, each: Compared, names: dict[tuple[str, str, str, str], str]) -> dict[str, Any]:
    """What the page shows once the pair is chosen, the lower cell first."""
    chosen = page.evaluate(CHOOSE, [cell_id(each.second), cell_id(each.first)])
    assert chosen == [cell_id(each.second), cell_id(each.first)]
    title = f"{names[each.first.key]} against {names[each.second.key]}"
    expect(page.locator('[data-compare-part="title"]')).to_have_text(title)
    found: dict[str, Any] = page.evaluate(READ)
    return found


def flat(text: str, note: str) -> str:
    """A text with its note as the browser reads both."""
    return " ".join(f"{text}{note}".split())


def points(drawing: list[list[list[str]]]) -> list[tuple[str, str, list[float], str]]:
    """Every part of the drawings with its numbers."""
    return [
        (tag, css, [float(number) for number in NUMBER.findall(where)], text)
        for svg in drawing
        for tag, css, where, text in svg
    ]


def python_points(markup: str) -> list[tuple[str, str, list[float], str]]:
    """The same of drawings that Python made."""
    found = []
    for tag, css, rest, text in re.findall(r'<(path|text) class="([^"]*)" ([^>]*?)/?>([^<]*)', markup):
        coordinates = re.sub(r'[a-z]="|"', " ", rest)
        found.append((tag, css, [float(number) for number in NUMBER.findall(coordinates)], text))
    return found


def test_the_browser_says_of_every_pair_of_a_board_what_python_says(page: Page, world: World) -> None:
    table = table_of(world, "swe3 on mcp-gateway-registry-v2")
    names = names_of(table)
    for each in table.compared:
        shown = shown_after(page, each, names)
        said = pair_words(each, table.kind, names, amounts_of(each))
        assert shown["verdict"] == said.verdict
        assert shown["good"] == str(said.good).lower()
        assert shown["names"] == list(FACTS)
        assert shown["facts"] == [flat(fact.text, fact.note) for fact in said.facts]
        assert shown["measures"] == [
            [
                row.title,
                *(flat(part.text, part.note) for part in (row.first, row.second, row.difference, row.tasks)),
            ]
            for row in said.measures
        ]
        one, two = quality_of(table, each.first), quality_of(table, each.second)
        gaps = [difference_entry(one.get(task), two.get(task)).text for task in tasks_of_table(table)]
        assert [row[3] for row in shown["tasks"]] == gaps
        assert shown["legend"] == [names[each.first.key], names[each.second.key]]


def test_the_browser_draws_what_python_draws(page: Page, world: World) -> None:
    source = random.Random(8)
    for title in ("swe3 on mcp-gateway-registry-v2", "swe2 on mcp-gateway-registry"):
        table = table_of(world, title)
        tasks = tasks_of_table(table)
        for each in source.sample(table.compared, 6):
            shown = shown_after(page, each, names_of(table))
            one, two = quality_of(table, each.first), quality_of(table, each.second)
            rows = [Dumbbell(task, one.get(task), two.get(task)) for task in tasks]
            wanted = "".join(
                str(dumbbell_svg(rows, POINTS, kind, "Task by task", "mean score"))
                for kind in ("wide", "narrow")
            )
            compare_drawings(points(shown["chart"]), python_points(wanted))
            found = each.verdict.evidence.interval if each.verdict else None
            difference = Difference(None, None, None, MARGIN)
            if found is not None:
                difference = Difference(found.estimate, found.lower, found.upper, MARGIN)
            compare_drawings(points(shown["difference"]), python_points(str(difference_svg(difference))))


def compare_drawings(
    drawn: list[tuple[str, str, list[float], str]], wanted: list[tuple[str, str, list[float], str]]
) -> None:
    """Both have the same parts in any order of painting, at most a tenth of a unit apart."""
    assert len(drawn) == len(wanted)
    for one, two in zip(
        sorted(drawn, key=lambda part: part[:1]), sorted(wanted, key=lambda part: part[:1]), strict=True
    ):
        assert (one[0], one[1], one[3]) == (two[0], two[1], two[3])
        assert one[2] == pytest.approx(two[2], abs=0.11)


def test_numbers_are_rounded_as_python_rounds_them(page: Page) -> None:
    source = random.Random(1)
    numbers = [
        source.choice((1, -1)) * source.randrange(0, 4000) / source.choice((40, 20, 8, 4, 3, 7))
        for _ in range(1000)
    ]
    found = page.evaluate("(all) => all.map((each) => window.Harnessmark.compare.signed(each))", numbers)
    assert found == [difference_entry(number, 0.0).text for number in numbers]


def test_choosing_changes_the_address_and_the_address_chooses(page: Page, world: World) -> None:
    table = table_of(world, "swe3 on mcp-gateway-registry-v2")
    each, names = table.compared[-1], names_of(table)
    shown = shown_after(page, each, names)
    asked = parse_qs(urlsplit(page.url).query)
    assert asked == {"first": [cell_id(each.second)], "second": [cell_id(each.first)]}
    page.reload()
    expect(page.locator('[data-compare-part="verdict"]')).to_have_text(shown["verdict"])
    expect(page.locator('[data-compare-part="title"]')).to_have_text(shown["title"])
    expect(page.locator(".hm-form__status")).to_contain_text(shown["verdict"])


def test_the_other_cell_is_always_one_of_the_same_dataset_and_never_the_same(
    page: Page, world: World
) -> None:
    table = table_of(world, "swe2 on mcp-gateway-registry")
    page.get_by_label("One cell").select_option(cell_id(table.cells[3]))
    expect(page.locator(".hm-form__status")).to_contain_text("swe2 on mcp-gateway-registry")
    offered = page.locator("#compare-second option").evaluate_all("(all) => all.map((each) => each.value)")
    assert offered == [cell_id(cell) for cell in table.cells if cell is not table.cells[3]]


def test_a_pair_of_the_full_table_leads_to_its_comparison(
    context: BrowserContext, site: str, world: World
) -> None:
    table = table_of(world, "swe3 on mcp-gateway-registry-v2")
    each, names = table.compared[5], names_of(table)
    opened = context.new_page()
    watch = Watch(opened, site)
    opened.goto(f"{site}compare/swe3_mcp-gateway-registry-v2/")
    title = f"{names[each.first.key]} against {names[each.second.key]}"
    opened.get_by_role("link", name=title, exact=True).click()
    expect(opened.locator('[data-compare-part="title"]')).to_have_text(title)
    watch.assert_quiet()


def test_an_unknown_cell_in_the_address_changes_nothing_and_is_said(
    context: BrowserContext, site: str
) -> None:
    opened = context.new_page()
    watch = Watch(opened, site)
    opened.goto(f"{site}compare/?first=%3Cimg%20src=x%20onerror=alert(1)%3E&second=no")
    expect(opened.locator(".hm-form__status")).to_have_text(
        "The address names a cell that is not here; this is the usual pair."
    )
    watch.assert_quiet()


def test_data_that_cannot_be_loaded_change_nothing_and_that_is_said(page: Page, world: World) -> None:
    before = page.evaluate(READ)
    page.context.route("**/data/compare/**", lambda route: route.fulfill(status=200, body="{"))
    table = table_of(world, "swe3 on mcp-gateway-registry-v2")
    page.evaluate(CHOOSE, [cell_id(table.cells[4]), cell_id(table.cells[5])])
    expect(page.locator(".hm-form__status")).to_contain_text("Nothing changed: ")
    assert page.evaluate(READ) == before


def test_hostile_names_and_words_are_shown_as_they_are(page: Page, world: World) -> None:
    table = table_of(world, "swe3 on mcp-gateway-registry-v2")
    bad = [
        " ".join(entry.text.encode("utf-8", "replace").decode().split())
        for entry in corpus()
        if not entry.long
    ]
    bad = [text for text in bad if text.isprintable() and text][:40]
    together = " ".join(bad)

    def spoil(route: Any) -> None:
        data = json.loads(route.fetch().body())
        for place, cell in enumerate(data["cells"]):
            cell["name"] = f"{place} {together}"
            cell["href"] = "javascript:alert(1)" if place == 0 else cell["href"]
        data["texts"] = [f"{text} {together}" for text in data["texts"]]
        for task, text in zip(data["tasks"], bad, strict=False):
            task["name"] = task["wide"] = task["narrow"] = text
        route.fulfill(json=data)

    page.context.route("**/data/compare/**", spoil)
    page.evaluate(CHOOSE, [cell_id(table.cells[2]), cell_id(table.cells[3])])
    expect(page.locator('[data-compare-part="verdict"]')).to_contain_text(bad[0])
    found = page.evaluate(READ)
    assert together in " ".join(found["verdict"].split())
    assert [row[0] for row in found["tasks"]][: len(bad)] == bad[: len(found["tasks"])]
    assert page.locator("article img, article iframe, article script").count() == 0


def test_dollars_of_a_chosen_pair_have_their_basis_and_day(page: Page, world: World) -> None:
    table = table_of(world, "swe3 on mcp-gateway-registry-v2")
    shown_after(page, table.compared[-1], names_of(table))
    found = amounts(page.locator("article").inner_html())
    assert len(found) > 40
    assert [each.written for each in found if not each.complete] == []


def test_without_scripts_one_pair_is_complete_and_the_tables_hold_the_rest(
    chromium_scriptless: BrowserContext, site: str, world: World
) -> None:
    opened = chromium_scriptless.new_page()
    opened.goto(f"{site}compare/")
    expect(opened.locator("form[data-compare]")).to_be_hidden()
    expect(opened.get_by_text("Without scripts, this page shows one pair;")).to_be_visible()
    assert opened.locator("#chart-compare-tasks .hm-chart__stage svg").count() == 2
    table = table_of(world, "swe3 on mcp-gateway-registry")
    opened.get_by_role("link", name=table.title, exact=True).click()
    assert opened.locator("tbody tr").count() == len(table.compared)


def test_what_the_page_shows_first_is_what_the_browser_shows_of_it(page: Page, world: World) -> None:
    before = page.evaluate(READ)
    table = table_of(world, "swe3 on mcp-gateway-registry-v2")
    after = shown_after(page, table.compared[0], names_of(table))
    for name in ("title", "verdict", "good", "names", "measures", "tasks", "legend", "profile"):
        assert after[name] == before[name], name
    assert [fact.replace(" ", "") for fact in after["facts"]] == [
        fact.replace(" ", "") for fact in before["facts"]
    ]
    compare_drawings(points(after["chart"]), points(before["chart"]))


def test_a_phone_needs_no_sideways_scrolling(chromium_phone: BrowserContext, site: str) -> None:
    opened = chromium_phone.new_page()
    for address in ("compare/", "compare/harnesses/", "compare/swe3_mcp-gateway-registry-v2/"):
        opened.goto(f"{site}{address}")
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390
