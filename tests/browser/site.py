"""Small sites for the browser tests: pages built by mkdocs with the project's own settings."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from generators.publish.isolation import isolate
from generators.publish.policy import InlineScripts
from generators.publish.renderer import render
from generators.publish.serving import SiteServer

ROOT = Path(__file__).resolve().parents[2]
SUBPATH = "portal"


@contextmanager
def served(into: Path, files: Mapping[str, str], *, policy: bool) -> Iterator[str]:
    """The address of a site of the given Markdown and JSON files with the project's styles and scripts.

    With `policy` every page carries the content security policy of a published site.
    """
    docs = into / "build" / "docs"
    docs.mkdir(parents=True)
    shutil.copytree(ROOT / "site_src" / "assets", docs / "assets")
    for name, content in files.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    before, _, after = settings.partition("\nnav:\n")
    _, _, rest = after.partition("\nnot_in_nav:")
    with _served(into, f"{before}\nnav:\n  - Home: index.md\nnot_in_nav:{rest}", policy=policy) as url:
        yield url


@contextmanager
def served_sources(root: Path) -> Iterator[str]:
    """The address of a site whose sources stand below `root` already, with its content security policy."""
    with _served(root, (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), policy=True) as url:
        yield url


@contextmanager
def _served(root: Path, settings: str, *, policy: bool) -> Iterator[str]:
    # The server starts first: the theme's instant navigation follows only links whose address, port and all,
    # stands in the sitemap.
    shutil.copytree(ROOT / "site_src" / "overrides", root / "site_src" / "overrides")
    (root / "mkdocs.yml").write_text(settings, encoding="utf-8")
    site = root / "site"
    with SiteServer(site, subpath=SUBPATH) as server:
        render(root, site, site_url=server.url, epoch=1_700_000_000)
        if policy:
            isolate(site, InlineScripts.of_theme(), subpath=SUBPATH)
        yield server.url
