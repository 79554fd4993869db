"""Built pages: sources rendered by mkdocs, and the part of a page that a reader came for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

EXTENSIONS = ["admonition", "tables", "toc"]


def built_by_mkdocs(docs: Path, into: Path, *, keep: Sequence[str]) -> Path:
    """The site that mkdocs makes of the folders ``keep`` of ``docs``, without the theme's own scripts."""
    for path in docs.iterdir():
        if path.name not in {*keep, "index.md"}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    config = {
        "site_name": "t",
        "docs_dir": str(docs),
        "site_dir": str(into / "site"),
        "theme": {"name": "mkdocs"},
        "plugins": [],
        "markdown_extensions": EXTENSIONS,
    }
    (into / "mkdocs.yml").write_text(json.dumps(config))
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "-q", "build", "-f", str(into / "mkdocs.yml")]
    subprocess.run(command, check=True, capture_output=True, env=environment, timeout=1200)
    return into / "site"


def article(page: Path) -> str:
    """The main part of a built page, up to the footer of the theme."""
    html = page.read_text(encoding="utf-8")
    main = html[html.index('<div class="col-md-9" role="main">') :]
    return main[: main.index("<footer")]
