"""A site published to a branch, cloned, served below its sub-path and opened in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from generators.publish.branch import push
from generators.publish.serving import SiteServer
from generators.publish.site import BuiltSite
from tests.browser.arrival import arrive
from tests.chromium import launched
from tests.generators.publish.project import git

pytestmark = pytest.mark.browser

HOME = "http://bench.example/portal/"


@pytest.fixture(scope="module")
def clone(portal: BuiltSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the branch that ``portal`` was published to."""
    folder = tmp_path_factory.mktemp("published")
    bare, clone = folder / "remote.git", folder / "clone"
    git(folder, "init", "--quiet", "--bare", str(bare))
    push(portal.folder, root=folder, remote=str(bare))
    git(folder, "clone", "--quiet", "--branch=gh-pages", str(bare), str(clone))
    return clone


@pytest.fixture(scope="module")
def browser(clone: Path) -> Iterator[Browser]:
    """A browser for which HOME stands on this machine, without a port in its address as on a real host."""
    with SiteServer(clone, subpath="portal") as server:
        place = urlsplit(server.url).netloc
        with launched(f"--host-resolver-rules=MAP {urlsplit(HOME).netloc}:80 {place}") as running:
            yield running


class Visit:
    """One visitor: a page, all that its console said, and all that failed or came from elsewhere."""

    def __init__(self, browser: Browser) -> None:
        self.page: Page = browser.new_page()
        self.faults: list[str] = []
        self.requested: list[str] = []
        self.page.on("console", lambda message: self._heard(message.type, message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("response", self._answered)
        self.page.on("request", lambda request: self.requested.append(request.url))

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.faults.append(text)

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.faults.append(f"{response.status} {response.url}")

    def foreign(self) -> list[str]:
        host = urlsplit(HOME).netloc
        return [url for url in self.requested if not url.startswith("data:") and urlsplit(url).netloc != host]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    visitor = Visit(browser)
    yield visitor
    visitor.page.close()


def test_pages_links_and_charts_work_below_the_sub_path(visit: Visit) -> None:
    page = visit.page
    page.goto(HOME)
    page.get_by_role("link", name="A cell", exact=True).click()
    page.wait_for_url(HOME + "cells/a/")
    page.get_by_role("button", name="Interactive").click()
    page.locator("figure[data-state=live] .main-svg").first.wait_for()
    page.get_by_role("link", name="the figures").click()
    page.wait_for_url(HOME + "cells/a/#figures")
    for name in ("Compare", "Methodology", "Home"):
        page.locator(".md-tabs__link", has_text=name).click()
        page.get_by_role(
            "heading", name="compare.md" if name == "Compare" else name, exact=False
        ).first.wait_for()
    assert page.url == HOME
    assert visit.faults == []
    assert visit.foreign() == []


def test_navigation_is_instant_and_scripts_still_run_after_it(visit: Visit) -> None:
    page = visit.page
    arrive(page, HOME)
    page.evaluate("window.kept = true")
    page.get_by_role("link", name="A cell", exact=True).click()
    page.get_by_role("button", name="Interactive").click()
    page.locator("figure[data-state=live] .main-svg").first.wait_for()
    assert page.evaluate("window.kept") is True
    assert visit.faults == []


def test_an_address_that_is_not_there_shows_the_whole_404_page(visit: Visit) -> None:
    page = visit.page
    page.goto(HOME + "cells/none/at/all/")
    assert page.get_by_role("heading", name="Page not found").is_visible()
    assert sorted(visit.faults) == [
        f"404 {HOME}cells/none/at/all/",
        "Failed to load resource: the server responded with a status of 404 (Not Found)",
    ]
    assert any("/portal/assets/stylesheets/" in url for url in visit.requested)
    page.get_by_role("link", name="Results by harness").click()
    page.wait_for_url(HOME + "harnesses/")
    assert visit.foreign() == []


def test_the_search_answers_and_the_scheme_follows_the_system(visit: Visit) -> None:
    page = visit.page
    page.emulate_media(color_scheme="dark")
    page.goto(HOME)
    scheme = "data-md-color-scheme"
    expect(page.locator("body")).to_have_attribute(scheme, "slate", timeout=30_000)
    page.get_by_title("Switch to light mode").click()
    expect(page.locator("body")).to_have_attribute(scheme, "default", timeout=30_000)
    page.keyboard.press("/")
    expect(page.locator(".md-search__input")).to_be_focused(timeout=30_000)
    page.keyboard.type("compare")
    page.locator(".md-search-result__item").first.wait_for()
    assert page.get_by_role("dialog", name="Search").count() == 1
    assert visit.faults == []


def test_the_policy_stops_what_slips_into_a_page(visit: Visit, clone: Path) -> None:
    path = clone / "compare" / "index.html"
    original = path.read_text(encoding="utf-8")
    injected = (
        "<script>window.ran = 1</script><img src=gone onerror='window.ran = 2'>"
        "<script src='http://127.0.0.1:9/x.js'></script>"
        "<a id=bad href='javascript:window.ran = 3'>bad</a></article>"
    )
    path.write_text(original.replace("</article>", injected), encoding="utf-8")
    try:
        visit.page.goto(HOME + "compare/")
        visit.page.locator("#bad").click()
        for _ in range(600):
            if sum("Content Security Policy" in fault for fault in visit.faults) >= 4:
                break
            visit.page.wait_for_timeout(50)
        assert visit.page.evaluate("window.ran") is None
        assert sum("Content Security Policy" in fault for fault in visit.faults) >= 4
    finally:
        path.write_text(original, encoding="utf-8")
