"""The end of a sweep that dies at one point after another and is gone on with; what came of it, as JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from runner.engine.places import Places
from runner.engine.sweeps.command import sweep_command
from runner.engine.sweeps.flags import sweep_form
from runner.records import sha256_of
from runner.store import verify
from tests.kill_points import killed_at


def sweep(root: Path, file: TextIO = sys.stdout, **given: Any) -> int:
    """Its exit code; what it says goes to ``file``."""
    form = sweep_form(None, **given)
    return sweep_command(Places(root), Console(width=200, file=file), environment=os.environ, given=form)


def killed_and_ended(begun: Path, root: Path, at: int) -> dict[str, object]:
    """What is there after a kill at that point of the end, and after going on."""
    shutil.copytree(begun, root, symlinks=True)
    places = Places(root)
    (kept,) = places.artifacts.glob("sweeps/*/levels/*.json")
    level = json.loads(kept.read_bytes())
    first = killed_at(root, at, lambda: sweep(root, StringIO(), resume=True, finish=True))
    is_ending = bool([*places.artifacts.glob("sweeps/*/ending")])
    if not [*places.artifacts.glob("sweeps/*/done")]:
        # Whoever had begun to end it does not go on to measure, whatever is said.
        killed_at(root, 0, lambda: sweep(root, StringIO(), resume=True, finish=not is_ending))
    store = places.store(demonstration=True, private=False)
    made = [*store.sweeps()]
    databases = places.artifacts.glob("sweeps/*/*.duckdb*")
    archives = [*(places.metrics / "archives").iterdir()]
    return {
        "at": at,
        "first": first,
        "levels": [[json.loads(each.model_dump_json()) == level for each in r.levels] for r in made],
        "scrapes": [r.collector_sha256 == sha256_of(archives[0].read_bytes()) for r in made],
        "archives": len(archives),
        "faults": [found.line() for found in verify(store.root)],
        "databases": [each.name for each in databases if each.suffix != ".log"],
    }


def main() -> None:
    """``BEGUN FOLDER POINT...``: one line for each point."""
    begun, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for at in map(int, sys.argv[3:]):
        sys.stdout.write(json.dumps(killed_and_ended(begun, folder / f"at-{at}", at)) + "\n")


if __name__ == "__main__":
    main()
