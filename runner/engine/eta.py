"""ETA: how much longer a plan will take, from how long its finished trials took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from runner.records import Part

Cell = tuple[str, ...]


class Eta(Part):
    """An estimate and what it rests on."""

    seconds: float | None
    """None where it is unknown."""
    at_least: bool = False
    """Whether some trials are left that nothing is known about."""
    basis: str


def estimate(
    finished: Mapping[Cell, Sequence[float]],
    left: Sequence[Cell],
    running: Sequence[tuple[Cell, float]],
    concurrency: int,
) -> Eta:
    """How long until the last trial ends.

    Each trial is taken to last as long as the median of the finished trials of its cell; the sum is shared
    by as many as are in flight, and no less than the longest of them. What is needed to make trials ready,
    to grade and judge them and to switch servers is not in it.

    Args:
        finished: seconds that trials of each cell took.
        left: cell of each trial that has not started.
        running: cell of each trial in flight, and for how many seconds it has been.
        concurrency: trials at a time.
    """
    if not left and not running:
        return Eta(seconds=0.0, basis="nothing is left")
    medians = {cell: median(seconds) for cell, seconds in finished.items() if seconds}
    unknown = {cell for cell in [*left, *(cell for cell, _ in running)] if cell not in medians}
    known = [medians[cell] for cell in left if cell in medians]
    known += [max(medians[cell] - since, 0.0) for cell, since in running if cell in medians]
    if not known:
        return Eta(seconds=None, basis="no trial of these cells has finished yet")
    seconds = max(sum(known) / max(concurrency, 1), max(known))
    basis = f"median of the finished trials of the same cell, {concurrency} at a time"
    if unknown:
        cells = "1 cell" if len(unknown) == 1 else f"{len(unknown)} cells"
        basis += f"; of {cells} no trial has finished yet, theirs are not in it"
    return Eta(seconds=round(seconds, 1), at_least=bool(unknown), basis=basis)
