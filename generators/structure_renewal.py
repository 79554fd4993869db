"""Structure renewal: the figures that made-up populations are drawn from, taken from real results again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from generators.sources import load_worlds
from generators.statistics.simulation.populations import public_table
from generators.statistics.simulation.structure import (
    PATH,
    Structure,
    check_structure,
    judge_structure,
    load_structure,
)
from generators.tables.judge_boards import judge_boards

NO_ROWS = "; figures of its SWE-bench results, none of its rows"
RECORDS = "the published judge scores in results/"


def renew_structure(
    root: Path, say: Callable[[str], None], *, table: str = "", source: str = "", path: Path = PATH
) -> int:
    """Write the structure anew: of judge scores from the store, of checks from a copy of a public table.

    Args:
        root: folder of the project.
        say: shows a line.
        table: folder with the copy; without one the structure of checks stays.
        source: repository, commit and licence of that table.
        path: where the structure is stored.

    Raises:
        ConfigurationError: there is no table below the folder, or the stored structure is broken.
        StoreError: a record cannot be read.
    """
    checks = load_structure(path).checks
    if table:
        population = public_table(Path(table), source or "a table that was not named")
        checks = check_structure(population.scores / 100, population.costs, population.source + NO_ROWS)
    real, _ = load_worlds(root / "results", root / "datasets")
    judge = judge_structure(judge_boards(real.cells), RECORDS)
    path.write_text(Structure(checks=checks, judge=judge).model_dump_json(indent=1) + "\n", encoding="utf-8")
    say(f"checks: {len(checks.systems)} systems, {checks.tasks} tasks, {checks.source}")
    say(f"judge scores: {judge.cells} cells on {judge.groups} boards, {judge.source}")
    return 0
