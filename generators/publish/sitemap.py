"""Sitemap: every address in it leads to a page of the site, and robots.txt names it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from generators.publish.address import SiteAddress
from runner.errors import PublishError

_LOCATION = re.compile(r"<loc>(.*?)</loc>")


def check_sitemap(site: Path, address: SiteAddress) -> int:
    """Check ``site/sitemap.xml`` and return how many pages it names.

    Instant navigation reads it in the browser, so an empty one is a fault as well.

    Raises:
        PublishError: it is not there, is empty, or names an address that is no page of the site.
    """
    path = site / "sitemap.xml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    locations = [unescape(location) for location in _LOCATION.findall(text)]
    strays = [location for location in locations if not _is_page(site, address, location)]
    if strays or not locations:
        problem = f"names what is not there: {', '.join(strays[:5])}" if strays else "is missing or empty"
        raise PublishError(
            f"the sitemap {problem}",
            where=str(path),
            remedy=f"check site_url in mkdocs.yml; the site was built for {address.url}",
        )
    return len(locations)


def write_robots(site: Path, address: SiteAddress) -> None:
    """Write ``robots.txt`` that allows everything and names the sitemap, unless the sources brought one."""
    path = site / "robots.txt"
    if not path.exists():
        path.write_text(f"User-agent: *\nAllow: /\n\nSitemap: {address.url}sitemap.xml\n", encoding="utf-8")


def _is_page(site: Path, address: SiteAddress, location: str) -> bool:
    if not location.startswith(address.url):
        return False
    target = site / unquote(location.removeprefix(address.url))
    return (target / "index.html").is_file() if location.endswith("/") else target.is_file()
