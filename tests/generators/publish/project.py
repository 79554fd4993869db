"""Project: a small project with the real site configuration and a handful of pages of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HOME = Path(__file__).parents[3]
TOP_PAGES = (
    "index.md",
    "harnesses/index.md",
    "compare.md",
    "models/index.md",
    "datasets/index.md",
    "skills/index.md",
    "methodology/cost.md",
    "data/index.md",
    "about-a-run.md",
)
CHART_SCRIPT = """
document$.subscribe(() => {
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    fetch(new URL(figure.dataset.chart, location)).then(answer => answer.json()).then(chart => {
      figure.dataset.live = chart.title;
    });
  }
});
"""
CELL = """---
search: {exclude: true}
---
# A cell

## Figures

[Home](../../index.md) and [the figures](#figures)

<figure data-chart="../../data/chart.json"><svg role="img" viewBox="0 0 9 9"><circle r="3"/></svg></figure>
"""


def write_pages(results: Path, datasets: Path, site_src: Path, out: Path) -> None:
    """A stand-in for the generators: copies ``site_src/pages`` as the pages' sources."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(site_src / "pages", out)


def make_project(root: Path) -> Path:
    """Write the project into ``root`` and return it."""
    for folder in ("results", "datasets"):
        (root / folder).mkdir(parents=True)
    shutil.copy(HOME / "mkdocs.yml", root / "mkdocs.yml")
    shutil.copytree(HOME / "site_src" / "overrides", root / "site_src" / "overrides")
    for name in TOP_PAGES:
        write(root, name, f"# Page {name}\n\n## Part\n\nText.\n")
    write(
        root,
        "index.md",
        "# Home page\n\n## Part\n\n[A cell](cells/a/index.md), [its figures](cells/a/index.md#figures)\n",
    )
    write(root, "cells/a/index.md", CELL)
    write(root, "data/chart.json", '{"title": "alive"}')
    write(root, "assets/extra.css", "body { --mark: url(mark.svg) }\n")
    write(root, "assets/mark.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>')
    write(root, "assets/charts.js", CHART_SCRIPT)
    write(root, "assets/tables.js", "")
    return root


def write(root: Path, page: str, text: str) -> None:
    """Write one page's source, by its name below the pages' folder."""
    path = root / "site_src" / "pages" / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def git(folder: Path, *arguments: str, **variables: str) -> str:
    """What git prints in ``folder``, away from the machine's own configuration."""
    ended = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=isolated_git(folder) | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.strip()


def isolated_git(home: Path) -> dict[str, str]:
    """An environment in which git sees no configuration of the machine's or of the user's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_COMMITTER_DATE": "1700000000 +0000",
        "GIT_AUTHOR_DATE": "1700000000 +0000",
    }
