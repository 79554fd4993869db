"""Site: sources to a checked site folder; a good site is replaced only by another good one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from generators.publish.address import DEFAULT, SiteAddress
from generators.publish.clock import source_date_epoch
from generators.publish.isolation import isolate
from generators.publish.links import LinkReport, check_links, require_sound_links
from generators.publish.policy import InlineScripts
from generators.publish.renderer import render
from generators.publish.sitemap import check_sitemap, write_robots
from generators.publish.turn import fresh_folder, turn

SourceWriter = Callable[[Path, Path, Path, Path], object]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class BuiltSite:
    """A site that passed every check: its folder, its address and its counts."""

    folder: Path
    address: SiteAddress
    pages: int
    links: int
    epoch: int


def build(
    root: Path,
    *,
    site_url: str | None = None,
    progress: Progress | None = None,
    write_sources: SourceWriter | None = None,
) -> BuiltSite:
    """Build the project at ``root`` into ``root/site``.

    Args:
        root: the project's folder, with mkdocs.yml, results/, datasets/ and site_src/.
        site_url: where the site will stand; else the environment's SITE_URL, else a loopback address.
        progress: told one line per step.
        write_sources: ``(results, datasets, site_src, out)`` writes the pages' sources; by default the
            generators' own.

    Raises:
        PublishError: mkdocs warned or failed, or a check found a fault; an earlier ``root/site`` stays.
        UsageError: ``site_url`` is no address.
    """
    root = root.resolve()
    tell = progress or _silent
    writer = write_sources or import_module("generators.build").write_sources
    address = SiteAddress.parse(site_url or os.environ.get("SITE_URL") or DEFAULT)
    epoch = source_date_epoch(root)
    with turn(root / "build", tell), fresh_folder(root / "build", address.subpath) as fresh:
        tell("writing the pages' sources")
        writer(root / "results", root / "datasets", root / "site_src", root / "build" / "docs")
        tell("building the site")
        render(root, fresh, site_url=address.url, epoch=epoch)
        tell("checking pages and links")
        report = _complete(fresh, address)
        _replace(root / "site", fresh)
    return BuiltSite(root / "site", address, report.pages, report.links, epoch)


def _complete(site: Path, address: SiteAddress) -> LinkReport:
    """Add what mkdocs does not write, and check the whole as a host will serve it."""
    (site / ".nojekyll").touch()
    write_robots(site, address)
    check_sitemap(site, address)
    isolate(site, InlineScripts.of_theme(), subpath=address.subpath)
    report = check_links(site, subpath=address.subpath)
    require_sound_links(report)
    return report


def _replace(site: Path, fresh: Path) -> None:
    retired = fresh.with_name(fresh.name + ".retired")
    if site.exists():
        site.rename(retired)
    try:
        fresh.rename(site)
    except OSError:
        if retired.exists():
            retired.rename(site)
        raise
    shutil.rmtree(retired, ignore_errors=True)


def _silent(line: str) -> None:
    """Take a line of progress and say nothing."""
