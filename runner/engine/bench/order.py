"""Order: whose turn it is: round by round over the cases, targets side by side, in recorded random order."""

from __future__ import annotations

import random
from collections.abc import Sequence

from runner.endpoint.suites.case import Case, Slot
from runner.records.bench_manifest import PlannedBench


def trial_key(target: str, case: str, slot: Slot) -> str:
    """Key of a trial: a run has each of them once."""
    return f"{target}|{case}|{slot.label}"


def interleaved(
    targets: Sequence[str], cases: Sequence[tuple[Case, tuple[Slot, ...]]], base_seed: int, order_seed: int
) -> tuple[PlannedBench, ...]:
    """Every trial outside of load stages, in the order of their turns.

    A round asks one slot of every case, the cases in a random order; within a case all targets are asked the
    same instance one after the other, again in a random order. So a budget that ends early cuts repeats and
    not cases, and a provider's good or bad hour falls on all targets alike.
    """
    drawn = random.Random(order_seed)  # noqa: S311 - an order, not a secret
    rounds = max((len(slots) for _, slots in cases), default=0)
    planned = []
    for number in range(rounds):
        block = [(case, slots[number]) for case, slots in cases if number < len(slots)]
        drawn.shuffle(block)
        for case, slot in block:
            turns = list(targets)
            drawn.shuffle(turns)
            planned += [
                PlannedBench(
                    key=trial_key(target, case.identifier, slot),
                    target=target,
                    case=case.identifier,
                    slot=slot.label,
                    seed=case.seed(base_seed, slot),
                    warm_up=slot.warm_up,
                )
                for target in turns
            ]
    return tuple(planned)


def slot_of(label: str) -> Slot:
    """The slot that a label stands for: ``w1``, ``2``, ``1.2``.

    Raises:
        ValueError: it stands for none.
    """
    if label.startswith("w"):
        return Slot(int(label[1:]), warm_up=True)
    run, _, repeat = label.partition(".")
    return Slot(int(run), int(repeat or 1))
