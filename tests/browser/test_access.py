"""Accessibility: axe finds nothing on any kind of page, light and dark, wide and narrow, static and live."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.site import ROOT
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

# The theme's copy buttons are navigation landmarks without a name, one for each block of code.
NOT_OURS = ["landmark-unique"]
KINDS = [
    "",
    "harnesses/",
    "harnesses/pi/",
    "harnesses/pi/swe3/",
    "skills/swe3/",
    "models/",
    "models/claude-opus-5-5/",
    "datasets/mcp-gateway-registry/",
    "compare/",
    "compare/harnesses/",
    "compare/swe3_mcp-gateway-registry-v2/",
    "methodology/cost/",
    "data/",
    "about-a-run/",
]
MEASURED = """() => !matchMedia("(hover)").matches || [...document.querySelectorAll("pre > code")].every(
  (code) => code.scrollWidth <= code.clientWidth || code.tabIndex >= 0
)"""
FOUND = """async (off) => {
  const rules = Object.fromEntries(off.map((rule) => [rule, { enabled: false }]));
  const { violations } = await axe.run({ rules });
  return violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)} (${v.nodes.length})`);
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe, as its Python package carries it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, axe: str) -> list[str]:
    """What axe objects to, with every fold of the page open."""
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    # The theme makes wide blocks of code focusable a moment after it has measured them.
    page.wait_for_function(MEASURED, timeout=60_000)
    page.wait_for_timeout(300)
    page.evaluate(axe)
    found: list[str] = page.evaluate(FOUND, NOT_OURS)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_and_tables_have_no_fault_static_or_live(
    chromium: Browser, portal: str, axe: str, scheme: str
) -> None:
    context = chromium.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page = context.new_page()
    for address in ("board/", "table/"):
        page.goto(portal + address)
        assert violations(page, axe) == []
    page.goto(f"{portal}board/")
    for figure in page.locator("figure[data-chart]").all():
        figure.locator("[data-act=live]").click()
        expect(figure).to_have_attribute("data-state", "live", timeout=60_000)
    assert violations(page, axe) == []
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_every_kind_of_page_has_no_fault_and_fits_its_width(
    chromium: Browser, published: str, axe: str, scheme: str, width: int
) -> None:
    context = chromium.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    watch = Watch(page, published)
    cell = next((ROOT / "results" / "swe").glob("*/pi/swe3/mcp-gateway-registry"))
    addresses = [*KINDS, f"cells/{cell.relative_to(ROOT / 'results' / 'swe').as_posix()}/"]
    for address in addresses:
        response = page.goto(published + address)
        assert response is not None
        assert response.status == 200, address
        assert violations(page, axe) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    watch.assert_quiet()
    context.close()
