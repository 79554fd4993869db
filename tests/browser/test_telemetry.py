"""The telemetry page in a real browser: zoom, crosshair, tables, themes, a phone, and no scripts at all."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

from generators.telemetry.command import telemetry_command
from tests.generators.telemetry.archives import EVIL, written

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of an archive whose server gives itself a hostile name."""
    folder = tmp_path_factory.mktemp("telemetry")
    output = folder / "page.html"
    telemetry_command(written(folder / "m.duckdb", model=EVIL, reason=EVIL), output, lambda _: None)
    return output.as_uri()


def opened(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    """The page, and everything that it asked for or complained of beside itself."""
    page, faults = context.new_page(), list[str]()

    def note(request: Request) -> None:
        if request.url != address:
            faults.append(request.url)

    page.on("request", note)
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    page.goto(address)
    return page, faults


@pytest.fixture
def telemetry(context: BrowserContext, address: str) -> Iterator[Page]:
    """The page, wide and light; it must have loaded nothing and complained of nothing."""
    page, faults = opened(context, address)
    yield page
    assert faults == []


def first_view(page: Page) -> list[float]:
    text = page.locator(".plot svg").first.get_attribute("viewBox")
    return [float(each) for each in (text or "").split()]


def test_dragging_shows_a_part_of_the_time_in_every_chart_and_a_double_click_all_of_it(
    telemetry: Page,
) -> None:
    box = telemetry.locator(".plot").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    reset = telemetry.get_by_role("button", name="Whole time")
    assert reset.is_disabled()
    telemetry.mouse.move(box["x"] + box["width"] * 0.25, middle)
    telemetry.mouse.down()
    telemetry.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    telemetry.mouse.up()
    left, _, width, _ = first_view(telemetry)
    assert left == pytest.approx(250, abs=5)
    assert width == pytest.approx(250, abs=5)
    views = telemetry.locator(".plot svg").evaluate_all(
        "all => all.map(each => each.getAttribute('viewBox'))"
    )
    assert len(set(views)) == 1
    assert telemetry.locator(".times").first.inner_text().split("\n")[0].startswith(("30", "40", "35"))
    assert reset.is_enabled()
    telemetry.locator(".plot").nth(3).dblclick()
    assert first_view(telemetry) == [0, 0, 1000, 1000]
    assert reset.is_disabled()


def test_the_crosshair_tells_time_and_values_and_goes_with_the_pointer(telemetry: Page) -> None:
    telemetry.locator(".plot").nth(2).hover()
    tip = telemetry.locator(".tip:visible")
    assert tip.count() == 1
    lines = tip.inner_text().split("\n")
    assert len(lines) == 3
    assert lines[1].startswith("running: ")
    assert lines[2] == "waiting: 1 requests"
    assert telemetry.locator(".cross:visible").count() == 8
    telemetry.mouse.move(1, 1)
    assert telemetry.locator(".cross:visible").count() == 0


def test_tables_take_the_place_of_charts_and_give_it_back(telemetry: Page) -> None:
    button = telemetry.get_by_role("button", name="Tables")
    button.click()
    assert telemetry.locator(".chart:visible").count() == 0
    assert telemetry.locator(".scroll table:visible").count() == 8
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert telemetry.locator(".chart:visible").count() == 8
    assert telemetry.locator(".scroll table:visible").count() == 0


def test_light_and_dark_change_places_at_a_click(telemetry: Page) -> None:
    def paper() -> str:
        return str(telemetry.evaluate("getComputedStyle(document.body).backgroundColor"))

    before = paper()
    telemetry.get_by_role("button", name="Light or dark").click()
    assert paper() != before
    telemetry.get_by_role("button", name="Light or dark").click()
    assert paper() == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_out_of_reach_on_a_phone_in_either_scheme(
    chromium: Browser, address: str, scheme: str
) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)  # type: ignore[arg-type]
    page, faults = opened(context, address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations.map((each) => each.id)")
    assert found == []
    context.close()
    assert faults == []


def test_everything_can_be_read_without_scripts(chromium: Browser, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator(".plot svg:visible").count() == 8
    assert page.locator("button:visible").count() == 0
    page.locator("summary").first.click()
    assert page.locator(".scroll table:visible").count() == 1
    assert "3,000.0" in page.locator(".scroll table").first.inner_text()
    context.close()


def test_a_hostile_name_is_text(telemetry: Page) -> None:
    assert "evil<script>alert(1)</script>" in telemetry.locator("h1").inner_text()
    assert telemetry.locator("script").count() == 2


def test_the_page_is_one_file(address: str) -> None:
    folder = Path(address.removeprefix("file://")).parent
    assert sorted(each.name for each in folder.iterdir() if each.suffix != ".lock") == [
        "m.duckdb",
        "page.html",
    ]
