"""Tables in a real browser: sorting, filtering, keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.arrival import arrive

pytestmark = pytest.mark.browser

IN_ORDER = ["m10", "m9", "m2", "m1", "m20", "M3", "m4"]


def names(page: Page) -> list[str]:
    """The first cell of every row that is shown, from top to bottom."""
    return page.locator("table.hm-table tbody tr:visible td:first-child").all_text_contents()


def test_numbers_sort_by_value_with_missing_ones_last_both_ways(page: Page, portal: str) -> None:
    page.goto(f"{portal}table/")
    button = page.get_by_role("button", name="Score")
    header = page.locator("th", has_text="Score")
    assert names(page) == IN_ORDER
    button.click()
    assert names(page) == ["m1", "M3", "m10", "m2", "m20", "m9", "m4"]
    expect(header).to_have_attribute("aria-sort", "ascending")
    button.click()
    assert names(page) == ["m20", "m2", "m10", "M3", "m1", "m9", "m4"]
    expect(header).to_have_attribute("aria-sort", "descending")


def test_only_the_sorted_column_says_so(page: Page, portal: str) -> None:
    page.goto(f"{portal}table/")
    page.get_by_role("button", name="Score").click()
    page.get_by_role("button", name="Cost").click()
    assert page.locator("th[aria-sort]").all_text_contents() == ["Cost"]
    assert names(page)[:3] == ["m1", "m10", "m20"]


def test_words_sort_as_people_count(page: Page, portal: str) -> None:
    page.goto(f"{portal}table/")
    page.get_by_role("button", name="Model").click()
    assert names(page) == ["m1", "m2", "M3", "m4", "m9", "m10", "m20"]


def test_the_filter_shows_rows_with_all_words_and_counts_them(page: Page, portal: str) -> None:
    page.goto(f"{portal}table/")
    box = page.get_by_role("searchbox", name="Filter rows: Models")
    box.fill("M1 60")
    assert names(page) == ["m10"]
    expect(page.locator(".hm-filter [role=status]")).to_have_text("1 of 7 rows")
    box.fill("nothing like it")
    assert names(page) == []
    box.fill("")
    assert names(page) == IN_ORDER
    expect(page.locator(".hm-filter [role=status]")).to_have_text("")


def test_a_filtered_table_still_sorts(page: Page, portal: str) -> None:
    page.goto(f"{portal}table/")
    page.get_by_role("searchbox", name="Filter rows: Models").fill("$1")
    page.get_by_role("button", name="Cost").click()
    assert names(page) == ["m10", "m9", "M3"]


def test_sorting_works_from_the_keyboard(page: Page, portal: str) -> None:
    page.goto(f"{portal}table/")
    page.get_by_role("button", name="Cost").focus()
    page.keyboard.press("Enter")
    assert names(page)[0] == "m1"
    page.keyboard.press("Space")
    assert names(page)[0] == "M3"


def test_a_page_reached_by_instant_navigation_gets_its_tools_once(page: Page, portal: str) -> None:
    arrive(page, portal)
    page.evaluate("window.stillHere = true")
    for _ in range(2):
        page.get_by_role("article").get_by_role("link", name="table").click()
        expect(page.locator(".hm-filter")).to_have_count(1)
        assert page.locator("th button.hm-sort").count() == 3
        page.go_back()
        expect(page.locator("h1")).to_contain_text("Home")
    assert page.evaluate("window.stillHere") is True


def test_without_scripts_the_table_is_complete(chromium_scriptless: BrowserContext, portal: str) -> None:
    page = chromium_scriptless.new_page()
    page.goto(f"{portal}table/")
    assert names(page) == IN_ORDER
    assert page.locator("th button").count() == 0
