"""Many comparisons: p-values of a whole table, and groups of cells that it cannot tell apart."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass


def p_text(p_value: float) -> str:
    """A p-value with three decimals; never as 0, and never as the limit that it lies below.

    Small ones are below a thousandth, and those that would round up to 0.050 have a fourth decimal, cut.
    """
    if p_value < 0.001:
        return "< 0.001"
    below = p_value < 0.05 and round(p_value, 3) >= 0.05
    return f"{math.floor(10_000 * p_value) / 10_000:.4f}" if below else f"{p_value:.3f}"


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's step-down rule (Holm 1979).

    The k-th smallest of m is multiplied by m - k + 1 and never falls below the one before. With a limit of
    0.05 on these, the chance of any false claim in the whole table is at most 5 %, however they depend.

    Raises:
        ValueError: a value outside 0 to 1.
    """
    if not all(0 <= value <= 1 for value in p_values):
        raise ValueError("a p-value lies between 0 and 1")
    adjusted, factors = [0.0] * len(p_values), holm_factors(p_values)
    so_far = 0.0
    for index in sorted(range(len(p_values)), key=lambda each: p_values[each]):
        so_far = max(so_far, min(1.0, factors[index] * p_values[index]))
        adjusted[index] = so_far
    return adjusted


def holm_factors(p_values: Sequence[float]) -> list[int]:
    """What Holm's rule multiplies each p-value by: m for the smallest of m, 1 for the largest."""
    factors = [0] * len(p_values)
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        factors[index] = len(p_values) - place
    return factors


@dataclass(frozen=True)
class RankRange:
    """Ranks that a cell may hold, 1 the best: those that claims leave open."""

    best: int
    worst: int


def rank_ranges(count: int, better: Collection[tuple[int, int]]) -> list[RankRange]:
    """Ranks that the claims leave open: below all that are better, above all that are worse.

    Args:
        count: cells.
        better: claims (winner, loser) by place, already adjusted for their number.
    """
    ranges = []
    for cell in range(count):
        above = sum(loser == cell for _, loser in better)
        below = sum(winner == cell for winner, _ in better)
        ranges.append(RankRange(1 + above, count - below))
    return ranges


def tie_groups(order: Sequence[int], better: Collection[tuple[int, int]]) -> list[list[int]]:
    """Cells in groups, best first: within a group no chain of undecided pairs is broken.

    Two cells that no claim tells apart are connected, and connected cells make a group. A group may therefore
    hold a pair that is told apart, linked by a third cell that is not; ``rank_ranges`` keeps that finer.

    Args:
        order: cells by descending mean; groups come out in this order.
        better: claims (winner, loser), already adjusted for their number.
    """
    apart = {frozenset(claim) for claim in better}
    left, groups = list(order), []
    while left:
        group, edge = [left[0]], [left[0]]
        left = left[1:]
        while edge:
            here = edge.pop()
            near = [cell for cell in left if frozenset((here, cell)) not in apart]
            left = [cell for cell in left if cell not in near]
            group += near
            edge += near
        groups.append(sorted(group, key=order.index))
    return groups
