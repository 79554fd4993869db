"""Arrival: what a script adds to a page has its place before the script is there."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

pytestmark = pytest.mark.browser

FORMS = {"compare/": "compare", "what-if/": "what-if", "serving/": "serving"}
TOPS = "(form) => [form, form.nextElementSibling, form.parentElement.querySelector('.hm-scroll')]"


def tops(form: Locator) -> list[float]:
    """Where the form begins, and what stands below it."""
    found: list[float] = form.evaluate(
        f"(form) => ({TOPS})(form).map((each) => each.getBoundingClientRect().top)"
    )
    return found


@pytest.mark.parametrize("path", FORMS)
def test_nothing_jumps_on_a_phone_when_a_form_gets_its_script(
    chromium_phone: BrowserContext, published: str, path: str
) -> None:
    waiting, ready = chromium_phone.new_page(), chromium_phone.new_page()
    waiting.route(f"**/{FORMS[path]}.js", lambda route: route.abort())
    for opened in (waiting, ready):
        opened.goto(published + path)
    before, after = (opened.locator(f"form[data-{FORMS[path]}]") for opened in (waiting, ready))
    expect(before).to_be_hidden()
    expect(after).to_be_visible()
    assert tops(after) == pytest.approx(tops(before), abs=1)
