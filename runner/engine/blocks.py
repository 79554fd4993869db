"""Blocks: trials that may run beside each other where models take turns on one server."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.records import PlannedTrial, PlanRecord

Keys = Mapping[tuple[str, ...], str | None]
"""What a cell's model must have to itself, by the cell's key; None where it may run beside any other."""


@dataclass(frozen=True)
class Block:
    """Trials whose models may be reachable at the same time, in the order of the plan."""

    key: str | None
    positions: tuple[int, ...]

    def models(self, plan: PlanRecord) -> tuple[str, ...]:
        """Names of the models of the block."""
        return tuple(
            dict.fromkeys(plan.trials[position].identity.cell.served_model for position in self.positions)
        )


def in_blocks(
    trials: Sequence[PlannedTrial], keys: Keys, generator: random.Random
) -> tuple[PlannedTrial, ...]:
    """``trials`` with those of one key side by side, their order kept; the order of the blocks is drawn.

    Where no model needs a server to itself the order stays as it is, and nothing is drawn.
    """
    found: dict[str | None, list[PlannedTrial]] = {}
    for planned in trials:
        found.setdefault(keys.get(planned.identity.cell.key), []).append(planned)
    order = list(found)
    if len(order) > 1:
        generator.shuffle(order)
    return tuple(planned for key in order for planned in found[key])


def blocks_of(plan: PlanRecord, keys: Keys) -> tuple[Block, ...]:
    """The blocks of ``plan`` in the order in which their first trials stand in it."""
    found: dict[str | None, list[int]] = {}
    for position, planned in enumerate(plan.trials):
        found.setdefault(keys.get(planned.identity.cell.key), []).append(position)
    return tuple(Block(key, tuple(positions)) for key, positions in found.items())
