"""Price book: all rows there are, validated together, and the one way to look a price up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path

from runner.costs.model_id import model_id
from runner.costs.price_files import read_price_files
from runner.costs.price_lookup import PriceAnswer, PriceQuestion, look_up, rows_of
from runner.costs.price_row import PriceRow
from runner.costs.price_rules import rule_faults
from runner.errors import ConfigurationError
from runner.records.base import sha256_of

__all__ = ["PriceAnswer", "PriceBook", "PriceQuestion", "PriceRow", "load_price_book"]


class PriceBook:
    """Rows in the order provider, model, region class, tier, length, day.

    Raises:
        ConfigurationError: two rows hold for one key and day, or days between two rows are missing
            without a word.
    """

    def __init__(self, rows: Iterable[PriceRow] = ()) -> None:
        self.rows: tuple[PriceRow, ...] = tuple(sorted(rows, key=lambda row: (row.key, row.effective_from)))
        faults = rule_faults(self.rows)
        if faults:
            raise ConfigurationError("the rows contradict each other:\n" + "\n".join(map(str, faults)))

    def lookup(self, question: PriceQuestion) -> PriceAnswer:
        """The price that ``question`` asks for, with every step; never a guess."""
        return look_up(self._by_provider, question)

    def history(self, provider: str, model: str) -> tuple[PriceRow, ...]:
        """All rows of one model, given by raw or normalised id, by day; empty where there are none."""
        found = rows_of(self._by_provider.get(provider, {}), model_id(model, provider))
        return () if found is None else tuple(sorted(found[1], key=lambda row: (row.effective_from, row.key)))

    def providers(self) -> tuple[str, ...]:
        """Providers with rows, in order."""
        return tuple(self._by_provider)

    def models(self, provider: str) -> tuple[str, ...]:
        """Models with rows at ``provider``, in order."""
        return tuple(self._by_provider.get(provider, {}))

    @cached_property
    def checked_on(self) -> date | None:
        """The last day on which a row was checked; None for an empty book."""
        return max((row.checked_on for row in self.rows), default=None)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all rows: the same rows give the same digest, in whatever files they stand."""
        rows = [row.model_dump(mode="json") for row in self.rows]
        return sha256_of(json.dumps(rows, sort_keys=True, separators=(",", ":")).encode())

    @cached_property
    def _by_provider(self) -> Mapping[str, Mapping[str, Sequence[PriceRow]]]:
        found: dict[str, dict[str, list[PriceRow]]] = {}
        for row in self.rows:
            found.setdefault(row.provider, {}).setdefault(row.model, []).append(row)
        return found


def load_price_book(folder: Path) -> PriceBook:
    """The book in the files ``*.yaml`` of ``folder``; an empty or missing folder is an empty book.

    Raises:
        ConfigurationError: files that cannot be read or have faults; every fault of every file is named
            with file, line and key in one report.
    """
    return PriceBook(read_price_files(folder))
