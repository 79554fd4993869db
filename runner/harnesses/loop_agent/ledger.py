"""Ledger: what the run has used so far, and which limit that reaches."""

from __future__ import annotations

from dataclasses import dataclass, field

from runner.harnesses.loop_agent.answer import Spent
from runner.harnesses.loop_agent.job import Bounds, Prices

DEFAULT_TURNS = 250


@dataclass
class Ledger:
    """Sums over the answers. A sum that lacks a part is None: unknown, never 0."""

    bounds: Bounds
    prices: Prices | None = None
    turns: int = 0
    retries: int = 0
    answers: list[Spent | None] = field(default_factory=list)

    def not_enforced(self) -> dict[str, str]:
        """Limits that were asked for and cannot be kept, with the reason; more may follow as answers come."""
        reasons: dict[str, str] = {}
        untold = self.total("prompt") is None or self.total("completion") is None
        if self.bounds.cost_usd is not None and self.prices is None:
            reasons["cost"] = "the model's prices are not given"
        elif self.bounds.cost_usd is not None and untold:
            reasons["cost"] = "the server left out token counts"
        if self.bounds.tokens is not None and untold:
            reasons["tokens"] = "the server left out token counts"
        return reasons

    def total(self, name: str) -> int | None:
        """Sum of the count ``name`` over all answers, None when one of them did not tell it."""
        counts = [None if spent is None else getattr(spent, name) for spent in self.answers]
        known = [count for count in counts if isinstance(count, int)]
        return sum(known) if len(known) == len(counts) else None

    def told(self, name: str) -> int:
        """Sum of the count ``name`` over the answers that told it: at least so many."""
        counts = [0 if spent is None else getattr(spent, name) or 0 for spent in self.answers]
        return sum(counts)

    def cost_usd(self) -> float | None:
        """Dollars at the given prices for what was told, None without prices."""
        if self.prices is None:
            return None
        cached = self.told("cached")
        read = self.prices.input if self.prices.cache_read is None else self.prices.cache_read
        fresh = (self.told("prompt") - cached) * self.prices.input
        return (fresh + cached * read + self.told("completion") * self.prices.output) / 1_000_000

    def limit_reached(self, seconds_left: float | None) -> str | None:
        """Name of the limit that forbids another turn, None if none does."""
        bounds, cost = self.bounds, self.cost_usd()
        if seconds_left is not None and seconds_left <= 0:
            return "time"
        if self.turns >= (bounds.turns or DEFAULT_TURNS):
            return "turns"
        if bounds.tokens is not None and self.told("prompt") + self.told("completion") >= bounds.tokens:
            return "tokens"
        if bounds.cost_usd is not None and cost is not None and cost >= bounds.cost_usd:
            return "cost"
        return None
