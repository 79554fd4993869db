"""Price lookup: which row of a book answers a question, and every step that led there."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from runner.costs.model_id import ModelId, model_id
from runner.costs.price_row import PriceRow, RegionClass, ServiceTier
from runner.costs.token_prices import TokenPrices

REGIONAL_WITHOUT_PREFIX = frozenset({"bedrock"})
"""Providers where an id without a prefix is served in the region that was called."""
_ORDER: Mapping[RegionClass | None, tuple[RegionClass, ...]] = {
    RegionClass.GLOBAL: (RegionClass.GLOBAL, RegionClass.ANY, RegionClass.REGIONAL),
    RegionClass.REGIONAL: (RegionClass.REGIONAL, RegionClass.ANY),
    RegionClass.ANY: (RegionClass.ANY,),
    None: (RegionClass.ANY, RegionClass.GLOBAL, RegionClass.REGIONAL),
}

ByModel = Mapping[str, Sequence[PriceRow]]


@dataclass(frozen=True)
class PriceQuestion:
    """What is to be priced. ``model`` is the raw id as sent; ``prompt_tokens`` is one request's prompt."""

    provider: str
    model: str
    on: date
    region_class: RegionClass | None = None
    service_tier: ServiceTier = ServiceTier.STANDARD
    prompt_tokens: int | None = None


@dataclass(frozen=True)
class PriceAnswer:
    """The row that holds, or why there is none, and the steps in the order they were taken."""

    row: PriceRow | None
    token_prices: TokenPrices | None
    steps: tuple[str, ...]
    missing_reason: str | None = None


class _Missing(Exception):
    """No row is left; carries the reason."""


def look_up(rows: Mapping[str, ByModel], question: PriceQuestion) -> PriceAnswer:
    """The answer of ``rows`` (by provider, then model) to ``question``.

    In this order: the provider, the model (the least shortened form of its id that has rows, then
    patterns), the service tier, the day, the region class, the length of the prompt.
    """
    steps: list[str] = []
    try:
        row = _narrow(rows, question, steps)
    except _Missing as missing:
        reason = str(missing)
        return PriceAnswer(None, None, (*steps, reason), reason)
    steps.append(f"the row is {_described(row)}; source: {row.source}, checked on {row.checked_on}")
    _classes(row, steps)
    return PriceAnswer(row, row.token_prices, tuple(steps))


def rows_of(models: ByModel, identity: ModelId) -> tuple[str, Sequence[PriceRow]] | None:
    """The model of the book that ``identity`` means, and its rows; None where nothing matches.

    The least shortened form with rows wins, then the pattern with the most literal characters.
    """
    for form in identity.forms:
        if form in models:
            return form, models[form]
    patterns = sorted((name for name in models if "*" in name), key=lambda name: (-len(name), name))
    for form in identity.forms:
        for pattern in patterns:
            if fnmatch.fnmatchcase(form, pattern):
                return pattern, models[pattern]
    return None


def _narrow(rows: Mapping[str, ByModel], question: PriceQuestion, steps: list[str]) -> PriceRow:
    models = rows.get(question.provider)
    if models is None:
        known = ", ".join(sorted(rows)) or "none"
        raise _Missing(f"the price book has no provider {question.provider!r}; it knows {known}")
    identity = model_id(question.model, question.provider)
    steps.append(f"the id is {question.model} at {question.provider}")
    steps.extend(identity.steps)
    left = _by_model(models, identity, question.provider, steps)
    left = _by_tier(left, question.service_tier, steps)
    left = _by_day(left, question.on, steps)
    left = _by_region(left, question, identity, steps)
    return _by_length(left, question.prompt_tokens, steps)


def _by_model(models: ByModel, identity: ModelId, provider: str, steps: list[str]) -> Sequence[PriceRow]:
    found = rows_of(models, identity)
    if found is None:
        close = difflib.get_close_matches(identity.normalised, sorted(models), n=1, cutoff=0.75)
        hint = f"; the nearest is {close[0]}" if close else ""
        raise _Missing(f"the price book has no {identity.normalised} at {provider}{hint}")
    name, left = found
    steps.append(f"{_rows(left)} for {name}")
    return left


def _by_tier(rows: Sequence[PriceRow], tier: ServiceTier, steps: list[str]) -> Sequence[PriceRow]:
    left = [row for row in rows if row.service_tier is tier]
    if not left:
        known = ", ".join(sorted({row.service_tier.value for row in rows}))
        raise _Missing(f"no price of the service tier {tier.value}; known: {known}")
    steps.append(f"service tier {tier.value}: {_rows(left)}")
    return left


def _by_day(rows: Sequence[PriceRow], day: date, steps: list[str]) -> Sequence[PriceRow]:
    left = [row for row in rows if row.holds_on(day)]
    if not left:
        known = "; ".join(sorted({row.days() for row in rows}))
        raise _Missing(f"no price is known for {day.isoformat()}; known: {known}")
    steps.append(f"on {day.isoformat()}: {_rows(left)}")
    return left


def _by_region(
    rows: Sequence[PriceRow], question: PriceQuestion, identity: ModelId, steps: list[str]
) -> Sequence[PriceRow]:
    wanted, why = question.region_class, "as asked"
    if wanted is None and identity.region_class is not None:
        wanted, why = identity.region_class, "by the prefix of the id"
    elif wanted is None and question.provider in REGIONAL_WITHOUT_PREFIX:
        wanted, why = RegionClass.REGIONAL, "an id without a prefix is served in the region that is called"
    elif wanted is None:
        why = "nothing says which"
    for taken in _ORDER[wanted]:
        left = [row for row in rows if row.region_class is taken]
        if left:
            name = "not told" if wanted is None else wanted.value
            kept = f"the rows of class {taken.value} are taken"
            steps.append(f"region class {name} ({why}): {kept}")
            return left
    known = ", ".join(sorted({row.region_class.value for row in rows}))
    name = "any" if wanted is None else wanted.value
    raise _Missing(f"no price of region class {name}; known: {known}")


def _by_length(rows: Sequence[PriceRow], prompt: int | None, steps: list[str]) -> PriceRow:
    tiers = sorted(rows, key=lambda row: row.context_above)
    left = [row for row in tiers if row.context_above == 0 or (prompt or 0) > row.context_above]
    if not left:
        raise _Missing(f"only prompts of more than {tiers[0].context_above:,} tokens have a price")
    longer = [row for row in tiers if row.context_above > 0]
    if prompt is None and longer:
        steps.append(
            "how long each prompt was is not known: the price of shorter ones is taken; from more than "
            f"{longer[0].context_above:,} tokens on it would be ${longer[0].prices.input:g} in and "
            f"${longer[0].prices.output:g} out"
        )
    elif longer:
        steps.append(
            f"a prompt of {prompt:,} tokens: the row for more than {left[-1].context_above:,} is taken"
        )
    return left[-1]


def _classes(row: PriceRow, steps: list[str]) -> None:
    prices = row.prices
    for name, price in (("read from", prices.cache_read), ("written to", prices.cache_write)):
        if price is None:
            steps.append(f"tokens {name} a cache have no price: with any of them the cost is unknown")
    if prices.cache_write is not None and prices.cache_write_1h not in (None, prices.cache_write):
        steps.append(
            "agents report one count of tokens written to a cache: it is priced as kept for five minutes "
            f"(${prices.cache_write:g}); kept for an hour they would cost ${prices.cache_write_1h:g}"
        )
    if prices.per_request:
        steps.append(f"each request costs ${prices.per_request:g} beside its tokens; that is not added here")
    if row.note:
        steps.append(f"note: {row.note}")


def _described(row: PriceRow) -> str:
    parts = [f"${row.prices.input:g} in, ${row.prices.output:g} out"]
    for name, price in (("read", row.prices.cache_read), ("write", row.prices.cache_write)):
        parts.append(f"cache {name} {'unknown' if price is None else f'${price:g}'}")
    return f"{', '.join(parts)} per million tokens, {row.days()}"


def _rows(rows: Sequence[PriceRow]) -> str:
    return "1 row" if len(rows) == 1 else f"{len(rows)} rows"
