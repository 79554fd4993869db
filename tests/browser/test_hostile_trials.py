"""Hostile trials in a real browser: pages of whole trials, built from a store that an agent wrote into."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from generators.build import write_sources
from tests.browser.site import ROOT, served
from tests.browser.test_hostile import LIVE_NODES, SCRIPTS, STIR
from tests.browser.watch import Watch
from tests.generators.pages.hostile_trials import HostileTrial, write_hostile_trials

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[HostileTrial], str]]:
    """Address of the site, its trials, and the address of one download; no content security policy."""
    folder = tmp_path_factory.mktemp("trials")
    written = write_hostile_trials(folder / "results")
    docs = folder / "docs"
    write_sources(folder / "results", ROOT / "datasets", folder / "none", docs)
    files = {"index.md": "# Home\n"}
    for path in (*docs.rglob("cells/**/*.md"), *docs.rglob("data/trials/**/*.txt")):
        files[path.relative_to(docs).as_posix()] = path.read_bytes().decode(errors="replace")
    download = next(name for name in files if name.endswith("implementation.md.txt"))
    with served(folder / "served", files, policy=False) as url:
        yield url, written, download


def test_no_page_of_a_trial_comes_alive(
    chromium: Browser, trials: tuple[str, list[HostileTrial], str]
) -> None:
    url, written, download = trials
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    watch = Watch(page, url)
    page.goto(url)
    scripts = page.evaluate(SCRIPTS)
    for trial in written:
        page.goto(f"{url}{trial.page.removesuffix('.md')}/")
        page.evaluate("() => document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        assert page.evaluate(LIVE_NODES) == [], trial.page
        assert page.evaluate(SCRIPTS) == scripts, trial.page
        assert page.locator(".md-footer").count() == 1, trial.page
        page.evaluate(STIR)
        assert page.evaluate("window.__hacked") is None, trial.page
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, trial.page
    assert context.request.get(url + download).headers["content-type"].startswith("text/plain")
    watch.assert_quiet()
    context.close()
