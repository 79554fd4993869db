"""Wanted: the load a user asks for, such as ``poisson=2,4`` or ``sweep=1,2,4,8``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from runner.costs.yaml_faults import nearest
from runner.errors import UsageError
from runner.records.bench_manifest import Shape

FORM = "concurrency=4, rate=2, poisson=1,2,4, ramp=1-10, sweep=1,2,4,8, goodput=1-64, sessions=4, "
REMEDY = f"write it as in {FORM}agent-sessions=2 or transcript=FILE"
CLOSED = frozenset({"concurrency", "sweep", "goodput", "sessions", "agent-sessions", "transcript"})
BETWEEN = frozenset({"ramp", "goodput"})
MOST_IN_FLIGHT = 1024
MOST_PER_SECOND = 10_000.0


@dataclass(frozen=True)
class WantedLoad:
    """One shape and its levels; ``path`` is the file of a transcript."""

    shape: Shape
    levels: tuple[float, ...]
    path: str = ""

    @property
    def closed_loop(self) -> bool:
        """Whether the next request waits for the end of an earlier one."""
        return self.shape in CLOSED


def parse_loads(texts: Iterable[str]) -> tuple[WantedLoad, ...]:
    """The loads in ``texts``, each shape once.

    Raises:
        UsageError: a shape that does not exist, levels that make no sense, or a shape given twice.
    """
    found: dict[str, WantedLoad] = {}
    for text in texts:
        load = _parsed(text.strip())
        if load.shape in found:
            raise UsageError(f"the load {load.shape} is given twice", remedy="give all its levels at once")
        found[load.shape] = load
    return tuple(found.values())


def _parsed(text: str) -> WantedLoad:
    name, equals, value = text.partition("=")
    shapes = get_args(Shape)
    if name not in shapes:
        raise UsageError(f"there is no load shape {name!r}{nearest(name, shapes)}", remedy=REMEDY)
    shape: Shape = name  # type: ignore[assignment]
    if shape == "transcript":
        if not equals or not value:
            raise UsageError("a transcript needs its file", remedy=REMEDY)
        return WantedLoad(shape, (1.0,), value)
    parts = value.split("-") if shape in BETWEEN else value.split(",")
    try:
        levels = tuple(float(part) for part in parts)
    except ValueError:
        raise UsageError(f"{text!r} has levels that are no numbers", remedy=REMEDY) from None
    _require_sense(shape, levels, text)
    return WantedLoad(shape, levels)


def _require_sense(shape: Shape, levels: tuple[float, ...], text: str) -> None:
    whole, most = shape in CLOSED, MOST_IN_FLIGHT if shape in CLOSED else MOST_PER_SECOND
    fine = all(0 < level <= most and (not whole or level == int(level)) for level in levels)
    if not fine:
        raise UsageError(
            f"{text!r} has levels outside of {'1' if whole else '0'} to {most:g}"
            f"{', or that are no whole numbers' if whole else ''}",
            remedy=REMEDY,
        )
    if shape in BETWEEN and len(levels) != 2:
        raise UsageError(f"{text!r} needs a lowest and a highest level", remedy=REMEDY)
    if shape == "goodput" and levels[0] > levels[1]:
        raise UsageError(f"{text!r} begins above its end", remedy=REMEDY)
    if shape not in BETWEEN and len(set(levels)) < len(levels):
        raise UsageError(f"{text!r} has a level twice", remedy=REMEDY)
