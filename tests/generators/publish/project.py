"""Project: a small project with the real site configuration and a handful of pages of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from generators.charts import Chart, ParetoPoint, pareto_chart

HOME = Path(__file__).parents[3]
CELL = """---
search: {{exclude: true}}
---
# A cell

## Figures

[Home](../../index.md) and [the figures](#figures)

{figure}
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
    shutil.copytree(HOME / "site_src" / "assets", root / "site_src" / "pages" / "assets")
    for name in top_pages():
        write(root, name, f"# Page {name}\n\n## Part\n\nText.\n")
    write(
        root,
        "index.md",
        "# Home page\n\n## Part\n\n[A cell](cells/a/index.md), [its figures](cells/a/index.md#figures)\n",
    )
    drawn = chart()
    write(root, "cells/a/index.md", CELL.format(figure=drawn.html("../../data/chart.json")))
    write(root, "data/chart.json", drawn.json())
    return root


def chart() -> Chart:
    """A chart of two points, one of which leads to the home page."""
    points = [
        ParetoPoint(
            f"model {number}", "../../", 0.5 * number, 40.0 + number, "metered", "", "loop", 4, 4, True, True
        )
        for number in (1, 2)
    ]
    return pareto_chart(points, slug="demo", title="Cost and quality", scope="loop, fix, hello-world")


def top_pages() -> list[str]:
    """The pages that the real navigation names."""
    navigation = (HOME / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    return re.findall(r"^  - [^:]+: (\S+\.md)$", navigation.partition("\nnot_in_nav")[0], re.MULTILINE)


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
