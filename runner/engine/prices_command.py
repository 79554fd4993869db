"""Prices command: the price book as a table, and one lookup told step by step."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from datetime import date
from enum import StrEnum
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from runner.costs import PriceBook, PriceQuestion, PriceRow, RegionClass, ServiceTier, load_price_book
from runner.costs.model_id import model_id
from runner.engine.places import Places
from runner.errors import UsageError

FOUND, NOT_FOUND = 0, 3
CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
LEGEND = "input / output / cache read / cache write of 5 minutes / of 1 hour"
UNKNOWN = "-"
WIDE = 140
"""Columns of the table where no terminal says how many there are."""
Choice = TypeVar("Choice", bound=StrEnum)


def prices_command(
    places: Places,
    console: Console,
    say: Callable[[str], None],
    *,
    model: str,
    provider: str,
    on: str,
    region_class: str,
    tier: str,
    prompt_tokens: int | None,
) -> int:
    """List the book, or explain the price of ``model``; 3 where nothing is found, else 0.

    Without ``provider`` the price is looked up at every provider that has the model.

    Raises:
        UsageError: a day, a class, a tier or a length of a prompt is none.
        ConfigurationError: the files of the book have faults.
    """
    book = load_price_book(places.prices)
    day = read_day(on)
    wanted = _choice(RegionClass, region_class, "--region-class") if region_class else None
    asked_tier = _choice(ServiceTier, tier, "--tier") if tier else None
    if prompt_tokens is not None and (prompt_tokens < 1 or not model):
        why = "is no length of a prompt" if model else "says nothing without a model"
        remedy = "the tokens of one request's prompt, together with --model"
        raise UsageError(f"{prompt_tokens} {why}", where="--prompt-tokens", remedy=remedy)
    if not model:
        shown = [
            row
            for row in book.rows
            if (not provider or row.provider == provider)
            and (not on or row.holds_on(day))
            and wanted in {None, row.region_class}
            and asked_tier in {None, row.service_tier}
        ]
        show_table(console, price_table(shown))
        for number, source in enumerate(_sources(shown), start=1):
            say(f"source {number}: {source}")
        say(f"{len(shown)} of {len(book.rows)} rows of the price book {book.digest[:12]}")
        return FOUND if shown else NOT_FOUND
    service_tier = asked_tier or ServiceTier.STANDARD
    asked = [provider] if provider else [each for each in book.providers() if book.history(each, model)]
    if not asked:
        say(f"no provider of the price book has {model}{_nearest(book, model)}")
        say("  what to do: invoke prices lists every row; a run takes others with --price-input, ...")
        return NOT_FOUND
    questions = [PriceQuestion(each, model, day, wanted, service_tier, prompt_tokens) for each in asked]
    return _explained(book, questions, say)


def show_table(console: Console, shown: Table) -> None:
    """Print a table; where no terminal says how wide it is, each row on one line, for grep and head."""
    wide = console if console.is_terminal else Console(file=console.file, width=WIDE)
    wide.print(shown)


def price_table(rows: Sequence[PriceRow]) -> Table:
    """``rows`` for the terminal, dollars per million tokens; a class without a price is a dash."""
    table = Table(title="US dollars per million tokens", caption=f"{LEGEND}; {UNKNOWN} is unknown")
    table.add_column("model", overflow="fold")
    table.add_column("prices", no_wrap=True)
    table.add_column("days", overflow="fold")
    table.add_column("source", justify="right")
    sources = _sources(rows)
    for row in rows:
        prices = row.prices.model_dump()
        amounts = " / ".join(UNKNOWN if prices[name] is None else f"{prices[name]:g}" for name in CLASSES)
        name = " ".join(part for part in (row.provider, row.model, _holds_for(row)) if part)
        table.add_row(*map(escape, (name, amounts, row.days(), str(sources.index(_source(row)) + 1))))
    return table


def _sources(rows: Sequence[PriceRow]) -> list[str]:
    """The sources of ``rows``, each once, in the order of the rows; a row tells the place of its own."""
    return list(dict.fromkeys(_source(row) for row in rows))


def _source(row: PriceRow) -> str:
    return f"{row.source.split(',')[0]}, checked on {row.checked_on.isoformat()}"


def _explained(book: PriceBook, questions: Sequence[PriceQuestion], say: Callable[[str], None]) -> int:
    found = False
    for question in questions:
        answer = book.lookup(question)
        found = found or answer.row is not None
        say(f"{question.model} at {question.provider} on {question.on.isoformat()}")
        for number, step in enumerate(answer.steps, start=1):
            say(f"  {number}. {step}")
        if answer.row is None:
            say("  no price")
    return FOUND if found else NOT_FOUND


def _nearest(book: PriceBook, model: str) -> str:
    known = sorted({name for provider in book.providers() for name in book.models(provider)})
    close = difflib.get_close_matches(model_id(model).normalised, known, n=1)
    return f"; the nearest name is {close[0]}" if close else ""


def _holds_for(row: PriceRow) -> str:
    parts = [] if row.region_class is RegionClass.ANY else [row.region_class.value]
    if row.service_tier is not ServiceTier.STANDARD:
        parts.append(row.service_tier.value)
    if row.context_above:
        parts.append(f"prompts > {row.context_above:,}")
    return f"({', '.join(parts)})" if parts else ""


def read_day(text: str) -> date:
    """The day that ``--on`` names; without one, today.

    Raises:
        UsageError: it is none.
    """
    if not text:
        return date.today()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no day", where="--on", remedy="write it as 2026-09-01") from None


def _choice(kind: type[Choice], text: str, flag: str) -> Choice:
    try:
        return kind(text)
    except ValueError:
        known = ", ".join(each.value for each in kind)
        raise UsageError(f"{text!r} is none of {known}", where=flag, remedy=f"known: {known}") from None
