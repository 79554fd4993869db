"""Endpoint pages in a real browser: no fault, no page wider than its window, and charts that come to life."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, expect

from generators.pages import endpoint, endpoint_methodology
from generators.pages.rendering import Renderer
from generators.reference import load_reference
from generators.sources import load_worlds
from tests.browser.site import ROOT, served
from tests.browser.test_access import violations
from tests.browser.watch import Watch
from tests.generators.tables.endpoint_made import FAST, MODEL, MadeRun, write_run

pytestmark = pytest.mark.browser

LOOKED_AT = {
    (1440, "light"): ("endpoints/", f"endpoints/{MODEL}/"),
    (390, "dark"): (f"endpoints/{MODEL}/r2/", "methodology/endpoints/"),
}
"""Each kind of page once: looking at one with all its tables takes seconds."""


@pytest.fixture(scope="module")
def endpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site with two runs, one of them unfinished, and the page of definitions."""
    results = tmp_path_factory.mktemp("results")
    write_run(results, MadeRun(instances=6, targets=(FAST,)))
    write_run(results, MadeRun("r2", day=3, instances=4, ended="partial", load=False))
    write_run(results, MadeRun("r3", day=4, instances=2, load=False, coding=False), figures=False)
    world, _ = load_worlds(results, ROOT / "datasets", load_reference(ROOT / "site_src"))
    sources = {"index.md": "# Home\n", "methodology/cost.md": "# Methodology\n", "data/index.md": "# Data\n"}
    for page in (*endpoint.pages(world, None), *endpoint_methodology.pages(world)):
        sources[page.path] = Renderer().render(page)
        sources |= {asset.path: asset.content.decode() for asset in page.assets}
    with served(tmp_path_factory.mktemp("endpoints"), sources, policy=True) as url:
        yield url


@pytest.mark.parametrize(("width", "scheme"), sorted(LOOKED_AT))
def test_no_page_has_a_fault_or_is_wider_than_its_window(
    chromium: Browser, endpoints: str, scheme: str, width: int
) -> None:
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    context = chromium.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    watch = Watch(page, endpoints)
    for address in LOOKED_AT[(width, scheme)]:
        response = page.goto(endpoints + address)
        assert response is not None
        assert response.status == 200, address
        assert violations(page, axe) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    watch.assert_quiet()
    context.close()


def test_a_distribution_and_the_history_come_to_life(chromium: Browser, endpoints: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    watch = Watch(page, endpoints)
    page.goto(f"{endpoints}endpoints/{MODEL}/")
    for mark in ("ttft", "history"):
        figure = page.locator(f"figure[data-chart*='{mark}']").first
        figure.locator("[data-act=live]").click()
        expect(figure).to_have_attribute("data-state", "live", timeout=60_000)
    expect(figure.locator(".xtick text").first).to_have_text("2026-11-01")
    watch.assert_quiet()
    context.close()


def test_a_figure_leads_to_its_definition(chromium: Browser, endpoints: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{endpoints}endpoints/{MODEL}/r1/")
    page.get_by_role("link", name="First token, any kind (TTFT)").first.click()
    page.wait_for_url("**/methodology/endpoints/#ttft_ms")
    expect(page.locator("#ttft_ms")).to_contain_text("TTFT")
    context.close()
