"""Partial: a copy of some cells of the committed results and of the dataset files, for a test to change."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.generators.tables.made import ROOT

SWEPT = ("gemma-4-31b", "kimi-k2.7-code")
"""Deployments whose sweeps are copied."""


def copy_results(to: Path, cells: Sequence[str]) -> Path:
    """A store with these cells (paths below ``results/swe``) and two throughput sweeps; no plans."""
    for cell in cells:
        shutil.copytree(ROOT / "results" / "swe" / cell, to / "swe" / cell)
    for name in SWEPT:
        shutil.copytree(ROOT / "results" / "throughput" / name, to / "throughput" / name)
    return to


def copy_datasets(to: Path) -> Path:
    """The price lists, the model names, and the dataset files of published results."""
    for folder in ("prices", "models"):
        shutil.copytree(ROOT / "datasets" / folder, to / folder)
    for name in ("mcp-gateway-registry", "hello-world-sanity"):
        shutil.copyfile(ROOT / "datasets" / f"{name}.yaml", to / f"{name}.yaml")
    return to


def without_costs(store: Path, cell: str, tasks: Sequence[str] = ()) -> int:
    """Make the recorded costs of a cell null, or of some of its tasks; how many records were changed."""
    changed = 0
    for path in sorted((store / "swe" / cell).rglob("trial.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if tasks and record["identity"]["task"] not in tasks:
            continue
        for cost in record["costs"]:
            cost.update(amount_usd=None, missing_reason="planted: nobody told")
        path.write_text(json.dumps(record), encoding="utf-8")
        changed += 1
    return changed


def change_row(datasets: Path, model: str, region: str, find: str, replace: str) -> None:
    """Change the standard price row of one model at bedrock, in the file it stands in."""
    path = datasets / "prices" / "tokens" / "bedrock-anthropic.yaml"
    text = path.read_text(encoding="utf-8")
    row = re.compile(rf"(  - model: {re.escape(model)}\n    region_class: {region}\n    prices: )(.*)")
    found = row.search(text)
    assert found is not None
    assert find in found.group(2)
    changed = found.group(1) + found.group(2).replace(find, replace, 1)
    path.write_text(text[: found.start()] + changed + text[found.end() :], encoding="utf-8")
