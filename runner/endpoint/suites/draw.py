"""Draw: the seeds of trials and the generator of instances, bit for bit what JavaScript would compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

WORD = 2**32
WARM_UP_MASK = 0x9E3779B9
FNV_PRIME = 16_777_619
MULTIPLIER = 1_664_525
INCREMENT = 1_013_904_223


def seed_of(base: int, key: str, run: int, *, warm_up: bool = False) -> int:
    """The seed of one instance, an unsigned number of 32 bits.

    ``base XOR run`` (XOR a constant for warm-ups), then for each UTF-16 unit of ``key``:
    ``value = (value XOR unit) x 16777619 mod 2^32``. All targets and all variants of a puzzle share ``key``,
    so they get the same instance for the same run. Source: specification of the endpoint benchmark, 4.3.
    """
    value = (base ^ run ^ (WARM_UP_MASK if warm_up else 0)) % WORD
    units = key.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = ((value ^ (low | high << 8)) * FNV_PRIME) % WORD
    return value


class Draw:
    """A linear congruential generator: ``state = state x 1664525 + 1013904223 mod 2^32``.

    Chosen because it gives the same instances in every language, not because it is a good generator.
    """

    def __init__(self, seed: int) -> None:
        self._state = seed % WORD

    def fraction(self) -> float:
        """A number of at least 0 and below 1."""
        self._state = (self._state * MULTIPLIER + INCREMENT) % WORD
        return self._state / WORD

    def integer(self, lowest: int, highest: int) -> int:
        """A whole number between the two, both included."""
        return lowest + int(self.fraction() * (highest - lowest + 1))

    def chance(self, probability: float) -> bool:
        """True with ``probability``."""
        return self.fraction() < probability

    def choice(self, items: Sequence[Item]) -> Item:
        """One of ``items``."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """``items`` in a drawn order (Fisher and Yates, from the end)."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.integer(0, last)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed
