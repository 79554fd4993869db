"""Hostile text in a real browser: in every context, nothing runs, loads, opens or breaks out."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from generators.escape.characters import shortened
from tests.browser.hostile_site import CHART_STRINGS, HostilePages, hostile_pages
from tests.browser.site import served
from tests.browser.watch import Watch
from tests.hostile import corpus

pytestmark = pytest.mark.browser

# Everything in the page that could act: programs, frames, forms of the content, handlers, live addresses.
LIVE_NODES = """() => {
  const found = [];
  const content = document.querySelector("article");
  const kinds = "script:not([type='application/json']), iframe, frame, object, embed, applet, base, " +
    "meta, link, style, form, input, textarea, select, img, image, video, audio, source, math, " +
    "foreignObject, use, animate, set, dialog, template, slot, noscript, [popover], [autofocus], [style]";
  for (const node of content.querySelectorAll(kinds)) {
    if (!node.closest(".hm-filter, .hm-chart__live")) found.push(node.outerHTML.slice(0, 200));
  }
  for (const node of document.querySelectorAll("*")) {
    for (const { name, value } of node.attributes) {
      if (name.startsWith("on")) found.push(`${node.tagName} ${name}=${value.slice(0, 80)}`);
      if (["href", "xlink:href", "src", "action", "formaction", "data"].includes(name)) {
        const { protocol } = new URL(value, document.baseURI);
        if (!["http:", "https:", "mailto:"].includes(protocol)) found.push(`${node.tagName} ${value}`);
      }
    }
  }
  return found;
}"""
RAW = "s => JSON.stringify(JSON.parse(s.textContent).raw)"
STIR = """() => {
  const kinds = ["mouseover", "focus", "pointerenter", "toggle", "animationstart", "load", "error"];
  for (const node of document.querySelectorAll("article *")) {
    for (const kind of kinds) node.dispatchEvent(new Event(kind, { bubbles: true, cancelable: true }));
  }
}"""
HOVER_ALL = """async () => {
  const box = document.querySelector("figure[data-kind=pareto] .hm-chart__live");
  const curve = box.data.findIndex((trace) => trace.customdata);
  const shown = [];
  for (const index of box.data[curve].x.keys()) {
    Plotly.Fx.unhover(box);
    Plotly.Fx.hover(box, [{ curveNumber: curve, pointNumber: index }]);
    while (!box.querySelector(".hovertext")?.textContent.startsWith(`${index + 1}. `) ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      Plotly.Fx.hover(box, [{ curveNumber: curve, pointNumber: index }]);
    }
    const made = box.querySelectorAll("a, tspan[style*='99px']").length;
    shown.push([box.querySelector(".hovertext").textContent, made]);
  }
  return shown;
}"""
SCRIPTS = "() => [...document.scripts].filter((s) => s.type !== 'application/json').length"


@pytest.fixture(scope="module")
def pages() -> HostilePages:
    """The sources of the hostile site."""
    return hostile_pages()


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory: pytest.TempPathFactory, pages: HostilePages) -> Iterator[str]:
    """The hostile site without a content security policy: escaping alone must hold."""
    with served(tmp_path_factory.mktemp("hostile"), pages.files, policy=False) as url:
        yield url


@pytest.fixture
def guarded(chromium: Browser, hostile_site: str) -> Iterator[Page]:
    """A page that is watched; nothing outside the server is reachable."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    watch = Watch(page, hostile_site)
    yield page
    watch.assert_quiet()
    context.close()


def test_no_page_of_text_comes_alive_and_every_string_arrives_whole(
    guarded: Page, hostile_site: str, pages: HostilePages
) -> None:
    guarded.goto(hostile_site)
    scripts = guarded.evaluate(SCRIPTS)
    arrived: list[str] = []
    for address in pages.addresses:
        guarded.goto(hostile_site + address)
        assert guarded.evaluate(LIVE_NODES) == [], address
        assert guarded.evaluate(SCRIPTS) == scripts, address
        assert guarded.locator(".md-footer").count() == 1, address
        arrived += guarded.evaluate(f"() => [...document.querySelectorAll('script.data')].map({RAW})")
        guarded.evaluate(STIR)
        assert guarded.evaluate("window.__hacked") is None, address
    assert [json.loads(entry) for entry in arrived] == _in_order_of_pages()


def test_live_charts_show_hostile_names_as_written(
    guarded: Page, hostile_site: str, pages: HostilePages
) -> None:
    names = [entry.text for entry in corpus() if not entry.long]
    for number, address in enumerate(pages.chart_addresses):
        guarded.goto(hostile_site + address)
        for figure in guarded.locator("figure[data-chart]").all():
            # By key and with the pointer away: a chart that the pointer rests on goes live by itself, and a
            # click on its button at that moment turns it back.
            guarded.mouse.move(0, 0)
            figure.locator("[data-act=live]").press("Enter")
            expect(figure).to_have_attribute("data-state", "live", timeout=60_000)
        hovers = guarded.evaluate(HOVER_ALL)
        group = names[number * CHART_STRINGS : (number + 1) * CHART_STRINGS]
        assert len(hovers) == len(group)
        # Points are numbered from the best score down, and the last string has the best.
        for (shown, made), name in zip(hovers, reversed(group), strict=True):
            assert made == 0
            assert _without_blanks(shortened(name, 80)) in _without_blanks(shown)
        assert guarded.evaluate(LIVE_NODES) == []


def test_hostile_titles_stay_text_in_search_results(guarded: Page, hostile_site: str) -> None:
    guarded.goto(hostile_site)
    guarded.keyboard.press("/")
    for word in ("window", "script", "onerror", "alert", "evil"):
        guarded.locator(".md-search__input").fill(word)
        expect(guarded.locator(".md-search-result__item").first).to_be_visible(timeout=180_000)
        results = guarded.locator(".md-search-result__list")
        assert results.locator("script, img, iframe, svg[onload], form, input").count() == 0
        assert guarded.evaluate("window.__hacked") is None


def _in_order_of_pages() -> list[str]:
    strings = corpus()
    return [entry.text for entry in strings if not entry.long] + [
        entry.text for entry in strings if entry.long
    ]


def _without_blanks(text: str) -> str:
    return "".join(html.unescape(text).split()).replace("\u200b", "")
