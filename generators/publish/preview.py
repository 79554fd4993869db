"""Preview: serve the site on this machine and rebuild it whenever an input changes."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from generators.publish.address import SiteAddress
from generators.publish.serving import SiteServer
from generators.publish.site import BuiltSite, Progress, SourceWriter, build
from generators.publish.watch import changes, snapshot
from runner.errors import HarnessmarkError

_SHOWN_CHANGES = 3


def serve(
    root: Path,
    *,
    progress: Progress,
    port: int = 8000,
    subpath: str = "",
    stop: threading.Event | None = None,
    poll_seconds: float = 0.5,
    write_sources: SourceWriter | None = None,
) -> None:
    """Build the project at ``root``, serve it on ``port`` below ``/<subpath>/``, and rebuild on changes.

    Returns when ``stop`` is set or the user interrupts. A rebuild that fails says why and leaves the last
    good site being served; the first build must succeed unless an earlier site is there.

    Raises:
        UsageError: the port is taken.
        PublishError: the first build failed and there is no earlier site.
    """
    root = root.resolve()
    halt = stop or threading.Event()
    with SiteServer(root / "site", subpath=subpath, port=port) as server:
        address = SiteAddress.parse(server.url)
        seen = snapshot(root)
        progress("building the site, which takes a minute where results are many")
        _first_build(root, address, progress, write_sources)
        progress(f"serving {server.url} (Ctrl-C ends it)")
        try:
            while not halt.wait(poll_seconds):
                now = snapshot(root)
                altered = changes(seen, now)
                # Wait until the writer is done: a run writes many files in a row.
                if not altered or halt.wait(poll_seconds) or changes(now, snapshot(root)):
                    continue
                seen = now
                progress(f"changed: {_listing(altered)}")
                _try_build(root, address, progress, write_sources)
        except KeyboardInterrupt:
            progress("stopped")


def build_afresh(root: Path, site_url: str, write_sources: SourceWriter | None = None) -> BuiltSite:
    """``site.build`` in a new interpreter, so that changed generators are the ones that run.

    Raises:
        PublishError: as ``site.build``.
    """
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawning) as pool:
        return pool.submit(build, root, site_url=site_url, write_sources=write_sources).result()


def _first_build(root: Path, address: SiteAddress, progress: Progress, writer: SourceWriter | None) -> None:
    if (root / "site" / "index.html").is_file():
        _try_build(root, address, progress, writer)
    else:
        _announce(build_afresh(root, address.url, writer), progress)


def _try_build(root: Path, address: SiteAddress, progress: Progress, writer: SourceWriter | None) -> None:
    try:
        _announce(build_afresh(root, address.url, writer), progress)
    except HarnessmarkError as error:
        progress(f"not rebuilt, the last good site stays:\n{error.message()}")


def _announce(built: BuiltSite, progress: Progress) -> None:
    progress(f"built {built.pages} pages, {built.links} links checked")


def _listing(paths: tuple[str, ...]) -> str:
    rest = len(paths) - _SHOWN_CHANGES
    return ", ".join(paths[:_SHOWN_CHANGES]) + (f" and {rest} more" if rest > 0 else "")
