"""llm-prices: candidates from the lists of simonw/llm-prices, dollars per million with days."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from pydantic import ValidationError

from runner.costs.model_id import model_id
from runner.costs.price_candidate import Candidate, Reading, per_million, settled
from runner.costs.price_row import MODEL_PATTERN, RegionClass, RowPrices, ServiceTier
from runner.errors import ConfigurationError

PROVIDERS: Mapping[str, str] = {
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "google": "google",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshot-ai": "moonshot",
    "openai": "openai",
    "qwen": "dashscope",
    "xai": "xai",
}
"""Vendors of the list whose prices the book keeps, and their names there."""
_LONG = re.compile(r"^(?P<model>.+)-(?P<context>\d{2,4})k$")
Entry = Mapping[str, object]


def llm_prices_candidates(document: object) -> Reading:
    """The prices of a vendor's file, or of the current or historical list, that can be rows.

    The list names models in its own way (``claude-4.5-haiku``), has no price of cache writes, and excludes
    the last day. A past price without a first day is left out.

    Raises:
        ConfigurationError: the document has another form.
    """
    reading = Reading()
    for entry in _entries(document):
        made = _candidate(entry)
        if isinstance(made, Candidate):
            reading.candidates.append(made)
        else:
            reading.skipped[made] += 1
    return settled(reading)


def _entries(document: object) -> Iterator[Entry]:
    if isinstance(document, dict) and isinstance(document.get("prices"), list):
        yield from (entry if isinstance(entry, dict) else {} for entry in document["prices"])
        return
    if isinstance(document, dict) and isinstance(document.get("models"), list):
        for model in document["models"]:
            yield from _of_model(model, document.get("vendor"))
        return
    raise ConfigurationError("not a list of llm-prices: it has neither prices nor models")


def _of_model(model: object, vendor: object) -> Iterator[Entry]:
    history = model.get("price_history") if isinstance(model, dict) else None
    for price in history if isinstance(history, list) else [None]:
        if isinstance(model, dict) and isinstance(price, dict):
            yield {**price, "id": model.get("id"), "vendor": vendor}
        else:
            yield {}


def _candidate(entry: Entry) -> Candidate | str:
    """A candidate, or why it is none."""
    name, provider = entry.get("id"), PROVIDERS.get(str(entry.get("vendor")))
    if not isinstance(name, str) or not name:
        return "not an object with an id"
    if provider is None:
        return "a vendor that the book does not keep"
    try:
        first, end = _day(entry.get("from_date")), _day(entry.get("to_date"))
    except ValueError:
        return "a day that is none"
    if end is not None and first is None:
        return "a past price without its first day"
    if first is not None and end is not None and end <= first:
        return "a price that ends before it begins"
    prices = {
        "input": _price(entry.get("input")),
        "output": _price(entry.get("output")),
        "cache_read": _price(entry.get("input_cached")) or None,
    }
    try:
        made = RowPrices.model_validate(prices)
    except ValidationError:
        return "no price of input and output tokens"
    long = _LONG.match(name)
    model = model_id(long["model"] if long else name).normalised
    if not re.match(MODEL_PATTERN, model):
        return "a name that is no model id"
    context = int(long["context"]) * 1000 if long else 0
    last = None if end is None else end - timedelta(days=1)
    return Candidate(
        provider, model, RegionClass.ANY, ServiceTier.STANDARD, context, made, name, 0, first, last
    )


def _day(value: object) -> date | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("a day is written as text")
    return date.fromisoformat(value)


def _price(value: object) -> float | None:
    return per_million(value, 1_000_000) if isinstance(value, int | float) else None
