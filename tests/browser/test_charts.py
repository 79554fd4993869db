"""Charts in a real browser: static first, live on intent, at home in the theme."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.arrival import arrive
from tests.browser.pages import pareto
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

PLOTLY = re.compile(r"plotly-[\d.]+\.min\.js")
PARETO = "#chart-pareto-pi-demo"
BOX_OF = "t => { const b = t.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height, t.textContent] }"


def board(page: Page, portal: str) -> Locator:
    """The Pareto figure of the freshly opened board."""
    arrive(page, f"{portal}board/")
    figure = page.locator(PARETO)
    expect(figure.locator("[data-act=live]")).to_be_visible()
    return figure


def live(figure: Locator) -> Locator:
    """The figure once Plotly has taken over."""
    expect(figure).to_have_attribute("data-state", "live", timeout=60_000)
    return figure


def hover(page: Page, figure: Locator) -> None:
    """Moves the mouse over an empty part of the drawing."""
    stage = figure.locator(".hm-chart__stage")
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.75)


def test_plotly_is_not_loaded_before_a_reader_reaches_for_a_chart(page: Page, portal: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    board(page, portal)
    page.wait_for_timeout(500)
    assert not [url for url in asked if PLOTLY.search(url) or (url.endswith(".json") and "search" not in url)]


def test_hovering_makes_it_live_and_shifts_nothing(page: Page, portal: str) -> None:
    figure = board(page, portal)
    before = figure.bounding_box()
    hover(page, figure)
    live(figure)
    assert figure.bounding_box() == before
    expect(figure.locator(".hm-svg--wide")).to_be_hidden()
    expect(figure.locator(".hm-chart__live")).to_be_visible()
    expect(figure.locator(".hm-chart__live")).to_have_attribute("aria-hidden", "true")
    assert figure.locator(".hm-svg--wide").evaluate("svg => svg.inert")


def test_live_points_are_the_points_of_the_drawing(page: Page, portal: str) -> None:
    figure = board(page, portal)
    figure.locator("[data-act=live]").click()
    live(figure)
    shown = figure.locator(".js-plotly-plot, .hm-chart__live").first.evaluate(
        "box => box.data.filter(t => t.customdata).flatMap(t => t.x.map((x, i) => [x, t.y[i]]))"
    )
    data = json.loads(pareto().json())["data"]
    expected = [
        [x, y] for trace in data if "customdata" in trace for x, y in zip(trace["x"], trace["y"], strict=True)
    ]
    assert shown == expected
    assert figure.locator(".hm-chart__live .points path").count() == len(expected)
    for label in figure.locator(".hm-svg--wide text.hm-label").all_text_contents():
        assert figure.locator(".hm-chart__live .textpoint", has_text=label).count() == 1


def test_a_click_on_a_live_point_opens_the_cell_without_a_new_page_load(page: Page, portal: str) -> None:
    figure = board(page, portal)
    hover(page, figure)
    live(figure)
    page.evaluate("window.stillHere = true")
    box = figure.locator(".hm-chart__live .points path").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(figure.locator(".hovertext")).to_contain_text("claude-opus-5")
    expect(figure.locator(".hovertext")).to_contain_text("5 of 5 tasks")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url(f"{portal}board/cells/claude-opus-5/")
    expect(page.locator("h1")).to_contain_text("Cell claude-opus-5")
    assert page.evaluate("window.stillHere") is True


def test_the_scale_button_changes_axis_and_label(page: Page, portal: str) -> None:
    figure = board(page, portal)
    button = figure.locator("[data-act=scale]")
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    live(figure)
    expect(button).to_have_attribute("aria-pressed", "false")
    kind = "box => box.layout.xaxis.type"
    assert figure.locator(".hm-chart__live").evaluate(kind) == "linear"
    expect(figure.locator(".hm-chart__live .xtitle")).to_contain_text("linear scale")
    button.click()
    expect(figure.locator(".hm-chart__live .xtitle")).to_contain_text("log scale")
    assert figure.locator(".hm-chart__live").evaluate(kind) == "log"
    ticks = figure.locator(".hm-chart__live .xtick text").all_text_contents()
    assert ticks == figure.locator(".hm-svg--wide text.hm-x:not(.hm-axis):not(.hm-label)").all_text_contents()


def test_the_interactive_button_goes_there_and_back(page: Page, portal: str) -> None:
    figure = board(page, portal)
    button = figure.locator("[data-act=live]")
    button.click()
    live(figure)
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(figure.locator(".hm-svg--wide")).to_be_visible()
    expect(figure.locator(".hm-chart__live")).to_be_hidden()


def test_the_colour_scheme_recolours_live_charts(page: Page, portal: str) -> None:
    figure = board(page, portal)
    figure.locator("[data-act=live]").click()
    live(figure)
    mark = figure.locator(".hm-chart__live .points path").first
    expect(mark).to_have_css("fill", "rgb(11, 92, 173)")
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    expect(mark).to_have_css("fill", "rgb(116, 181, 245)")
    expect(figure.locator(".hm-chart__live .xtick text").first).to_have_css("fill", "rgb(227, 230, 236)")
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'default')")
    expect(mark).to_have_css("fill", "rgb(11, 92, 173)")


def test_instant_navigation_survives_links_inside_drawings(page: Page, portal: str) -> None:
    board(page, portal)
    page.evaluate("window.stillHere = true")
    page.get_by_role("article").get_by_role("link", name="Home", exact=True).click()
    expect(page.locator("h1")).to_contain_text("Home")
    page.get_by_role("link", name="Board").first.click()
    expect(page.locator("h1")).to_contain_text("Board")
    assert page.evaluate("window.stillHere") is True
    page.locator(f"{PARETO} a[aria-label^='claude-opus-5']").click(position={"x": 3, "y": 3}, force=True)
    page.wait_for_url(f"{portal}board/cells/claude-opus-5/")
    expect(page.locator("h1")).to_contain_text("Cell claude-opus-5")
    page.get_by_role("link", name="Board").first.click()
    expect(page.locator("h1")).to_contain_text("Board")


def test_plotly_is_loaded_once_over_many_pages(context: BrowserContext, portal: str) -> None:
    page = context.new_page()
    watch = Watch(page, portal)
    figure = board(page, portal)
    for _ in range(3):
        figure.locator("[data-act=live]").click()
        live(figure)
        page.get_by_role("article").get_by_role("link", name="Home", exact=True).click()
        expect(page.locator("h1")).to_contain_text("Home")
        page.get_by_role("link", name="Board").first.click()
        expect(page.locator("h1")).to_contain_text("Board")
    assert len([url for url in watch.requests if PLOTLY.search(url)]) == 1
    watch.assert_quiet()


def test_layers_of_a_live_chart_lie_on_each_other_after_other_pages(page: Page, portal: str) -> None:
    figure = board(page, portal)
    for _ in range(2):
        figure.locator("[data-act=live]").click()
        live(figure)
        layers = figure.locator(".main-svg")
        assert layers.count() > 1
        tops = {round(box["y"]) for layer in layers.all() if (box := layer.bounding_box())}
        assert len(tops) == 1
        page.get_by_role("article").get_by_role("link", name="Home", exact=True).click()
        expect(page.locator("h1")).to_contain_text("Home")
        page.get_by_role("link", name="Board").first.click()
        expect(page.locator("h1")).to_contain_text("Board")


def test_points_are_reached_and_opened_by_keyboard(page: Page, portal: str) -> None:
    figure = board(page, portal)
    figure.locator("[data-act=live]").focus()
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("claude-opus-5, score 75.7")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    for _ in range(5):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("claude-haiku-4-5*")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{portal}board/cells/claude-haiku-4-5/")


def test_hovering_does_not_take_the_drawing_from_a_keyboard_user(page: Page, portal: str) -> None:
    figure = board(page, portal)
    figure.locator("[data-act=live]").focus()
    page.keyboard.press("Tab")
    hover(page, figure)
    page.wait_for_timeout(400)
    assert figure.get_attribute("data-state") is None


def test_a_tap_makes_it_live_on_a_phone_and_nothing_overflows(
    chromium_phone: BrowserContext, portal: str
) -> None:
    page = chromium_phone.new_page()
    watch = Watch(page, portal)
    figure = board(page, portal)
    expect(figure.locator(".hm-svg--narrow")).to_be_visible()
    expect(figure.locator(".hm-svg--wide")).to_be_hidden()
    expect(figure.locator(".hm-numbers")).to_be_visible()
    figure.locator(".hm-chart__stage").tap()
    live(figure)
    assert figure.locator(".hm-chart__live .textpoint").first.text_content() == "\u00a01"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    size = figure.locator(".hm-svg--narrow").evaluate(
        "svg => svg.clientWidth / svg.viewBox.baseVal.width * 12"
    )
    assert size >= 11
    watch.assert_quiet()


def test_without_scripts_the_page_is_complete(chromium_scriptless: BrowserContext, portal: str) -> None:
    page = chromium_scriptless.new_page()
    page.goto(f"{portal}board/")
    figure = page.locator(PARETO)
    expect(figure.locator(".hm-svg--wide")).to_be_visible()
    expect(figure.locator("button")).to_have_count(2)
    expect(figure.locator("button").first).to_be_hidden()
    figure.locator("summary").click()
    expect(figure.locator("td", has_text="claude-opus-5")).to_be_visible()
    figure.locator("a[aria-label^='claude-sonnet-5']").click(position={"x": 3, "y": 3}, force=True)
    page.wait_for_url(f"{portal}board/cells/claude-sonnet-5/")


def test_print_shows_the_drawing(page: Page, portal: str) -> None:
    figure = board(page, portal)
    figure.locator("[data-act=live]").click()
    live(figure)
    page.emulate_media(media="print")
    expect(figure.locator(".hm-svg--wide")).to_be_visible()
    expect(figure.locator(".hm-chart__live")).to_be_hidden()
    expect(figure.locator(".hm-chart__bar")).to_be_hidden()


def test_a_missing_data_file_leaves_the_drawing_and_says_so(context: BrowserContext, portal: str) -> None:
    page = context.new_page()
    page.route("**/pareto.json", lambda route: route.fulfill(status=404, body="gone"))
    figure = board(page, portal)
    figure.locator("[data-act=live]").click()
    expect(figure.locator(".hm-chart__status")).to_contain_text("could not be loaded")
    expect(figure.locator(".hm-svg--wide")).to_be_visible()


def test_labels_of_the_drawing_do_not_overlap_as_the_browser_sets_them(page: Page, portal: str) -> None:
    figure = board(page, portal)
    boxes = figure.locator(".hm-svg--wide text.hm-label").evaluate_all(f"texts => texts.map({BOX_OF})")
    frame = (0, 0, 720, 430)
    for index, (left, top, right, bottom, name) in enumerate(boxes):
        assert left >= frame[0], name
        assert right <= frame[2], name
        for other in boxes[index + 1 :]:
            apart = right <= other[0] or other[2] <= left or bottom <= other[1] + 3 or other[3] <= top + 3
            assert apart, (name, other[4])
