"""Committed: the results in the repository and the sources of their site, made once, only read by tests."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

from generators.build import BuildReport, write_sources
from generators.pages.world import World
from generators.sources import load_worlds
from tests.shared import shared_folder

ROOT = Path(__file__).resolve().parents[2]


@cache
def committed_world() -> World:
    """The real results at the committed prices; the reference to the code itself is left empty."""
    return load_worlds(ROOT / "results", ROOT / "datasets")[0]


def committed_sources(factory: pytest.TempPathFactory) -> tuple[Path, BuildReport]:
    """Folder with the sources of the site of the committed results, and what was said when they were made."""
    folder = shared_folder(factory, "committed-sources", _write)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return folder / "docs", BuildReport(**report)


def _write(folder: Path) -> None:
    report = write_sources(ROOT / "results", ROOT / "datasets", ROOT / "site_src", folder / "docs")
    (folder / "report.json").write_text(json.dumps(asdict(report)), encoding="utf-8")
