"""Build: results, datasets and hand-written pages to the sources of the site."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from generators.pages.links import SCHEMAS
from generators.pages.registry import PAGE_KINDS
from generators.pages.rendering import Page, Renderer
from generators.pages.world import World
from generators.reference import load_reference
from generators.sources import load_worlds
from generators.tables.database import Database
from generators.tables.exports import summary_json, summary_markdown, summary_paths
from runner.costs.price_choice import PriceChoice
from runner.errors import PublishError
from runner.records import json_schemas
from runner.store import component

ASSETS = "assets"
UNPUBLISHED = ("overrides", "plotly")
"""Folders of ``site_src`` that the theme or a build script reads; they are no part of the site's sources."""


@dataclass(frozen=True)
class BuildReport:
    """What was written: pages by kind, files, and what they show."""

    pages: dict[str, int]
    files: int
    cells: int
    demonstration_cells: int
    trials: int


def write_sources(
    results: Path, datasets: Path, site_src: Path, out: Path, choice: PriceChoice | None = None
) -> BuildReport:
    """Write every page, chart file and export into ``out``, which is emptied first.

    The same inputs give the same bytes: no clock, no random number without a stored seed, fixed orders.

    Args:
        results: folder of the results store; its demonstration store is read apart, its private one never.
        datasets: folder of the dataset files and price lists.
        site_src: hand-written pages and assets, copied first; a generated page never replaces one of them.
        out: the docs folder that mkdocs reads.
        choice: at which prices costs are worked out; by default at those of each run.

    Raises:
        StoreError: a record cannot be read.
        ConfigurationError: a dataset or a price list has faults.
        PublishError: two pages claim one path.
    """
    real, demonstration = load_worlds(results, datasets, load_reference(site_src), choice)
    shutil.rmtree(out, ignore_errors=True)
    _copy_hand_written(site_src, out)
    writer = _Writer(out)
    renderer = Renderer(notice=real.choice.words)
    counts: dict[str, int] = {}
    for world in (real, demonstration):
        if world is None:
            continue
        for kind in PAGE_KINDS:
            for page in kind.make(world, demonstration if world is real else None):
                writer.page(page, renderer)
                counts[kind.name] = counts.get(kind.name, 0) + 1
        writer.exports(world)
    writer.schemas()
    return BuildReport(
        pages=counts,
        files=writer.files,
        cells=len(real.cells),
        demonstration_cells=len(demonstration.cells) if demonstration else 0,
        trials=real.trial_count + (demonstration.trial_count if demonstration else 0),
    )


class _Writer:
    """Writes files below one folder and refuses to write any of them twice."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.files = 0

    def page(self, page: Page, renderer: Renderer) -> None:
        """Write a page and what it brings along."""
        self.file(page.path, renderer.render(page).encode())
        for asset in page.assets:
            self.file(asset.path, asset.content)

    def file(self, path: str, content: bytes) -> None:
        """Write one file; a path that is taken raises ``PublishError``."""
        target = self.out.joinpath(*(component(part) for part in path.split("/")))
        if target.exists():
            raise PublishError(
                "two files of the site claim one path", where=path, remedy="rename one of them"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        self.files += 1

    def exports(self, world: World) -> None:
        """Write the tables of the data folder, and two summaries for each cell."""
        database = Database(world.cells, world.proofs, world.reconciled, world.endpoints)
        try:
            self.files += len(database.export(self.out / world.prefix / "data"))
        finally:
            database.close()
        for cell in world.cells:
            json_path, text_path = summary_paths(cell, world.prefix)
            self.file(json_path, summary_json(cell, world.reconciled))
            self.file(text_path, summary_markdown(cell, world.reconciled))

    def schemas(self) -> None:
        """Write the JSON Schema of every record."""
        for name, schema in json_schemas().items():
            content = json.dumps(schema, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
            self.file(f"{SCHEMAS}/{name}.json", content.encode())


def _copy_hand_written(site_src: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if not site_src.is_dir():
        return
    for path in sorted(site_src.rglob("*")):
        relative = path.relative_to(site_src)
        if path.is_file() and (relative.parts[0] == ASSETS or relative.match("*.md")):
            if relative.parts[0] in UNPUBLISHED:
                continue
            target = out / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
