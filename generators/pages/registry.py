"""Registry: the kinds of pages, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from generators.pages import cell, harness_skill, home
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


PAGE_KINDS: tuple[PageKind, ...] = (
    PageKind("home", home.pages),
    PageKind("harness x skill", lambda world, other: harness_skill.pages(world)),
    PageKind("cell", lambda world, other: cell.pages(world)),
)
