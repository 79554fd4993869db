"""Arrival: a page whose theme is ready to follow links without a new page load."""

from __future__ import annotations

from playwright.sync_api import Page

ASK_AGAIN = "async (address) => { await (await fetch(address)).text() }"


def arrive(page: Page, address: str) -> None:
    """Open ``address`` in a fresh profile and wait for the site's map: until it is read, a click on a link is
    an ordinary one, however long that takes."""
    with page.expect_response(lambda response: response.url.endswith("/sitemap.xml")) as told:
        page.goto(address)
    told.value.finished()
    # What is asked for later is read later: the theme has read its own answer by then.
    page.evaluate(ASK_AGAIN, told.value.url)
