"""The sitemap names pages of the site and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.publish.address import SiteAddress
from generators.publish.site import BuiltSite
from generators.publish.sitemap import check_sitemap, write_robots
from runner.errors import PublishError

ADDRESS = SiteAddress.parse("https://example.org/portal/")


def sitemap(folder: Path, *locations: str) -> Path:
    urls = "".join(f"<url><loc>{location}</loc></url>" for location in locations)
    (folder / "sitemap.xml").write_text(f"<urlset>{urls}</urlset>")
    (folder / "index.html").touch()
    return folder


def test_a_built_sitemap_names_every_page_but_the_404(portal: BuiltSite) -> None:
    assert check_sitemap(portal.folder, portal.address) == portal.pages - 1


@pytest.mark.parametrize(
    "location",
    ["https://example.org/portal/gone/", "https://example.org/", "https://other.example/portal/", ""],
)
def test_an_address_that_is_no_page_is_named(tmp_path: Path, location: str) -> None:
    with pytest.raises(PublishError, match="names what is not there"):
        check_sitemap(sitemap(tmp_path, ADDRESS.url, location), ADDRESS)


def test_an_empty_or_missing_sitemap_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="missing or empty"):
        check_sitemap(tmp_path, ADDRESS)
    with pytest.raises(PublishError, match="missing or empty"):
        check_sitemap(sitemap(tmp_path), ADDRESS)


def test_escaped_addresses_are_read_as_their_files(tmp_path: Path) -> None:
    (tmp_path / "a&b c").mkdir()
    (tmp_path / "a&b c" / "index.html").touch()
    assert check_sitemap(sitemap(tmp_path, "https://example.org/portal/a&amp;b%20c/"), ADDRESS) == 1


def test_robots_of_the_sources_win(tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /\n")
    write_robots(tmp_path, ADDRESS)
    assert "Disallow" in (tmp_path / "robots.txt").read_text()
