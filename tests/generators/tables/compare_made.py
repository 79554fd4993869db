"""Made comparisons: cells whose scores, costs and checks tell one thing for sure."""

from __future__ import annotations

from pathlib import Path

from generators.pages.world import World
from generators.sources import load_worlds
from runner.records import CellIdentity, CheckStatus, CostBasis, TrialIdentity
from tests import examples
from tests.generators.tables.made import ROOT, Made, write

TASKS = tuple(f"task-{letter}" for letter in "abcdefgh")
GOOD, POOR = (22, 22, 22, 22), (8, 9, 10, 11)


def cell(slug: str, harness: str = "loop") -> CellIdentity:
    """A cell of the made dataset."""
    return examples.cell(slug, harness=harness)


def trials(
    identity: CellIdentity,
    points: tuple[int, int, int, int],
    cost: float,
    *,
    basis: CostBasis = CostBasis.METERED,
    tasks: tuple[str, ...] = TASKS,
    shift: int = 0,
) -> list[Made]:
    """One trial for each task; the last point and the cost change with the task, so that no two are alike."""
    found = []
    for place, task in enumerate(tasks):
        own = (*points[:3], points[3] + (place + shift) % 3)
        found.append(Made(task, own, cost=cost + 0.01 * place * place, basis=basis, cell=identity))
    return found


def checked(identity: CellIdentity, passed: int) -> list[Made]:
    """One trial without a judge for each task, of which the first ``passed`` pass their check."""
    return [
        Made(
            task,
            None,
            cell=identity,
            checks=(CheckStatus.PASSED if place < passed else CheckStatus.FAILED,),
        )
        for place, task in enumerate(TASKS)
    ]


def store(root: Path) -> None:
    """Three models, two of them under two harnesses.

    ``strong`` and ``twin`` are alike, ``weak`` is worse; ``strong`` under pi has four tasks and costs on
    another basis; one trial of ``weak`` is missing.
    """
    made = trials(cell("strong"), GOOD, 2.0) + trials(cell("twin"), GOOD, 0.5, shift=1)
    made += trials(cell("weak"), POOR, 0.2)
    made += trials(cell("strong", "pi"), GOOD, 0.4, basis=CostBasis.CREDITS, tasks=TASKS[:4])
    made += trials(cell("twin", "pi"), GOOD, 0.1, shift=2)
    write(root, made, [TrialIdentity(cell=cell("weak"), task="task-z", trial=1)])


def world(root: Path) -> World:
    """The world of the made store."""
    store(root)
    return load_worlds(root, ROOT / "datasets")[0]
