"""Registry: the kinds of pages, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from generators.pages import (
    about_run,
    accounting,
    cell,
    compare,
    complexity,
    cost_methodology,
    data,
    dataset,
    endpoint,
    endpoint_methodology,
    frontier,
    harness,
    harness_skill,
    home,
    judge,
    model,
    prices,
    quality,
    reconciliation,
    serving,
    setup,
    skill,
    statistics,
    task,
    trial,
    what_if,
)
from generators.pages.rendering import Page
from generators.pages.world import World

Maker = Callable[[World, World | None], Iterable[Page]]


@dataclass(frozen=True)
class PageKind:
    """A kind of page: its name in reports, and what makes its pages from a world.

    The second argument of ``make`` is the demonstration's world while the real one is written, else None.
    """

    name: str
    make: Maker


def _alone(make: Callable[[World], Iterable[Page]]) -> Maker:
    """A maker that needs nothing of the other world."""
    return lambda world, _: make(world)


PAGE_KINDS: tuple[PageKind, ...] = (
    PageKind("home", home.pages),
    PageKind("harness", _alone(harness.pages)),
    PageKind("harness x skill", _alone(harness_skill.pages)),
    PageKind("skill", _alone(skill.pages)),
    PageKind("model", _alone(model.pages)),
    PageKind("dataset", _alone(dataset.pages)),
    PageKind("task", _alone(task.pages)),
    PageKind("cell", _alone(cell.pages)),
    PageKind("trial", _alone(trial.pages)),
    PageKind("frontier", _alone(frontier.pages)),
    PageKind("complexity", _alone(complexity.pages)),
    PageKind("comparison", _alone(compare.pages)),
    PageKind("methodology", _alone(cost_methodology.pages)),
    PageKind("statistics", _alone(statistics.pages)),
    PageKind("price book", _alone(prices.pages)),
    PageKind("what if", _alone(what_if.pages)),
    PageKind("serving", _alone(serving.pages)),
    PageKind("endpoint", endpoint.pages),
    PageKind("endpoint methodology", _alone(endpoint_methodology.pages)),
    PageKind("reconciliation", _alone(reconciliation.pages)),
    PageKind("judge", _alone(judge.pages)),
    PageKind("data", data.pages),
    PageKind("data quality", quality.pages),
    PageKind("about a run", about_run.pages),
    PageKind("set-up", _alone(setup.pages)),
    PageKind("accounting", _alone(accounting.pages)),
)
