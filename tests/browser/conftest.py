"""Fixtures of the browser tests: one Chromium and one built site for each process that runs tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from generators.pages.world import World
from tests.browser.pages import chart_pages
from tests.browser.site import served, served_sources
from tests.browser.watch import Watch
from tests.chromium import launched
from tests.generators.committed import committed_sources, committed_world


# Playwright leaves its event loop running in the thread of the tests, where no other test may find one:
# the browser goes when the last of its tests has run, not with the session.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The system's Chromium. Without one the tests fail and say what to install."""
    # What is expected comes at once or never; a busy machine has other thoughts about at once.
    expect.set_options(timeout=60_000)
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site with charts and tables, under its content security policy and below a sub-path."""
    with served(tmp_path_factory.mktemp("charts"), chart_pages(), policy=True) as url:
        yield url


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the site of the committed results."""
    root = tmp_path_factory.mktemp("published")
    docs, _ = committed_sources(tmp_path_factory)
    shutil.copytree(docs, root / "build" / "docs", copy_function=os.link)
    with served_sources(root) as url:
        yield url


@pytest.fixture(scope="session")
def world() -> World:
    """The committed results."""
    return committed_world()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser profile of its own, wide and light."""
    fresh = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    yield fresh
    fresh.close()


@pytest.fixture
def page(context: BrowserContext, portal: str) -> Iterator[Page]:
    """A page whose console, dialogs and requests are watched; a complaint fails the test at its end."""
    opened = context.new_page()
    watch = Watch(opened, portal)
    yield opened
    watch.assert_quiet()


@pytest.fixture
def chromium_phone(chromium: Browser) -> Iterator[BrowserContext]:
    """A profile that is 390 pixels wide and has a finger instead of a mouse."""
    phone = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    yield phone
    phone.close()


@pytest.fixture
def chromium_scriptless(chromium: Browser) -> Iterator[BrowserContext]:
    """A profile that runs no scripts."""
    plain = chromium.new_context(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    yield plain
    plain.close()
