"""Building: a site that passed every check, or the one before it."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from pathlib import Path

import pytest

from generators.publish.site import BuiltSite, build
from generators.publish.turn import fresh_folder, turn
from runner.errors import PublishError, UsageError
from tests.generators.publish.project import git, make_project, top_pages, write, write_pages


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below ``folder``."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def made(root: Path, site_url: str | None = None) -> BuiltSite:
    return build(root, site_url=site_url, write_sources=write_pages)


def test_a_site_holds_all_that_a_host_needs(portal: BuiltSite) -> None:
    names = digests(portal.folder).keys()
    assert {".nojekyll", "404.html", "index.html", "sitemap.xml", "sitemap.xml.gz", "robots.txt"} <= names
    assert {"cells/a/index.html", "data/chart.json", "assets/charts.js"} <= names
    assert not [name for name in names if "overrides" in name or name.endswith(".md")]
    assert portal.pages == len(top_pages()) + 2
    assert portal.links > 100


def test_addresses_follow_the_sub_path(portal: BuiltSite) -> None:
    site = portal.folder
    assert portal.address.subpath == "portal"
    assert 'href="/portal/assets/' in (site / "404.html").read_text()
    sitemap = (site / "sitemap.xml").read_text()
    assert "<loc>https://example.org/portal/cells/a/</loc>" in sitemap
    assert gzip.decompress((site / "sitemap.xml.gz").read_bytes()).decode() == sitemap
    assert "Sitemap: https://example.org/portal/sitemap.xml" in (site / "robots.txt").read_text()
    assert '<link rel="canonical" href="https://example.org/portal/">' in (site / "index.html").read_text()


def test_the_search_dialog_has_a_name_and_run_pages_are_not_searched(portal: BuiltSite) -> None:
    assert 'role="dialog" aria-label="Search"' in (portal.folder / "index.html").read_text()
    index = (portal.folder / "search" / "search_index.json").read_text()
    assert "Page compare.md" in index
    assert "cells/a/" not in index


def test_two_builds_of_one_commit_are_byte_identical(tmp_path: Path) -> None:
    first = make_project(tmp_path / "first")
    git(first, "init", "--quiet", "--initial-branch=main", ".")
    git(first, "add", ".")
    git(first, "commit", "--quiet", "--message=all")
    second = tmp_path / "elsewhere" / "second"
    second.parent.mkdir()
    git(tmp_path, "clone", "--quiet", str(first), str(second))
    # git keeps no empty folders.
    for name in ("results", "datasets"):
        (second / name).mkdir()
    one = made(first, "https://example.org/portal/")
    time.sleep(1.1)
    two = made(second, "https://example.org/portal/")
    assert one.epoch == two.epoch == 1_700_000_000
    assert digests(one.folder) == digests(two.folder)
    assert b"2023-11-14" in (one.folder / "sitemap.xml").read_bytes()


def test_building_again_over_an_old_site_gives_the_same_bytes_and_drops_old_pages(project: Path) -> None:
    write(project, "cells/old/index.md", "# Old\n")
    made(project)
    (project / "site_src" / "pages" / "cells" / "old" / "index.md").unlink()
    site = made(project).folder
    before = digests(site)
    assert not [name for name in before if "old" in name]
    assert digests(made(project).folder) == before


@pytest.mark.parametrize(
    ("page", "text", "said"),
    [
        ("compare.md", "# C\n\n[gone](gone.md)\n", "gone.md"),
        ("compare.md", "# C\n\n[no such part](index.md#gone)\n", "#gone"),
        ("compare.md", '# C\n\n<a href="../gone/">gone</a>\n', "gone"),
        ("compare.md", '# C\n\n<img alt="a" src="https://x.example/a.png">\n', "loads from outside"),
        ("compare.md", "# C\n\n<script>alert(1)</script>\n", "not the theme's"),
        ("compare.md", "# C\n\n[run](javascript:alert(1))\n", "a link that runs"),
        ("assets/extra.css", "@import url(https://fonts.example/a.css);\n", "fonts.example"),
        (
            "cells/a/index.md",
            '# A\n\n## Figures\n\n<figure data-chart="../../data/none.json"></figure>\n',
            "none.json",
        ),
    ],
)
def test_a_fault_stops_the_build_and_leaves_the_good_site(
    project: Path, page: str, text: str, said: str
) -> None:
    (project / "site").mkdir()
    (project / "site" / "index.html").write_text("the good site")
    before = digests(project / "site")
    write(project, page, text)
    with pytest.raises(PublishError) as failure:
        made(project)
    assert said in failure.value.what
    assert failure.value.where
    assert failure.value.remedy
    assert digests(project / "site") == before
    assert [path.name for path in (project / "build").iterdir() if path.name.startswith("site-")] == []


def test_a_page_that_the_navigation_names_and_nobody_wrote_stops_the_build(project: Path) -> None:
    (project / "site_src" / "pages" / "compare.md").unlink()
    with pytest.raises(PublishError, match=r"WARNING .*compare\.md.* not found"):
        made(project)
    assert not (project / "site").exists()


def test_a_broken_configuration_is_said_in_mkdocs_own_words(project: Path) -> None:
    with (project / "mkdocs.yml").open("a") as config:
        config.write("\nplugins: [nosuchplugin]\n")
    with pytest.raises(PublishError, match="nosuchplugin"):
        made(project)


def test_a_folder_without_a_configuration_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "site_src" / "pages").mkdir(parents=True)
    with pytest.raises(PublishError, match="no site configuration"):
        made(tmp_path)


def test_the_address_comes_from_the_argument_then_the_environment_then_a_default(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made(project).address.url == "http://127.0.0.1:8000/"
    monkeypatch.setenv("SITE_URL", "https://ada.github.io/bench")
    assert made(project).address.url == "https://ada.github.io/bench/"
    assert made(project, "https://example.org/a/b/").address.subpath == "a/b"
    assert 'href="/a/b/assets/' in (project / "site" / "404.html").read_text()
    with pytest.raises(UsageError):
        made(project, "not an address")


def test_progress_is_told_step_by_step(project: Path) -> None:
    lines: list[str] = []
    build(project, progress=lines.append, write_sources=write_pages)
    assert lines == ["writing the pages' sources", "building the site", "checking pages and links"]


def test_secrets_of_the_machine_do_not_reach_the_pages_builder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (project / "mkdocs.yml").open("a") as config:
        config.write('\nextra:\n  leak: !ENV [OPENAI_API_KEY, "none"]\n')
    override = project / "site_src" / "overrides" / "404.html"
    override.write_text(override.read_text().replace("<ul>", "<p>key {{ config.extra.leak }}</p><ul>"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    text = (made(project).folder / "404.html").read_text()
    assert "key none" in text
    assert "sk-secret" not in text


def test_a_second_build_waits_for_the_first(project: Path) -> None:
    holding, released = threading.Event(), threading.Event()

    def hold() -> None:
        with turn(project / "build", lines.append):
            holding.set()
            released.wait()

    def tell(line: str) -> None:
        lines.append(line)
        released.set()

    lines: list[str] = []
    other = threading.Thread(target=hold)
    other.start()
    holding.wait()
    build(project, progress=tell, write_sources=write_pages)
    other.join()
    assert lines[0] == "waiting for another build of this project to end"
    assert (project / "site" / "index.html").is_file()


def test_what_an_interrupted_build_left_is_removed(project: Path) -> None:
    left = project / "build" / "site-left"
    left.mkdir(parents=True)
    (left / "half.html").touch()
    with fresh_folder(project / "build", "a/b") as fresh:
        assert fresh.parts[-2:] == ("a", "b")
        assert not fresh.exists()
        assert not left.exists()
    assert list((project / "build").iterdir()) == []
