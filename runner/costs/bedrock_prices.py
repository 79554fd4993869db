"""Bedrock prices: candidates from the price list service of the cloud, by region."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from runner.costs.model_id import model_id
from runner.costs.price_candidate import Candidate, Reading, per_million, settled
from runner.costs.price_row import RegionClass, RowPrices, ServiceTier

SERVICES = ("AmazonBedrockFoundationModels", "AmazonBedrock")
"""Models of the marketplace, named by their service; and all others, most with their id in the usage type."""
MAX_PAGES = 1_000
_MARKET = re.compile(r"^[A-Z0-9]+-MP:[A-Za-z0-9]+_(?P<use>.+)-Units$|^[A-Z0-9]+_(?P<short>[a-z_0-9]+)-Units$")
_OLD = re.compile(r"^(?P<kind>[A-Za-z0-9]+TokenCount)(?P<globally>_Global)?$")
_NEW = re.compile(
    r"^(?P<kind>(?:input|output|cache_read|cache_write)_tokens(?:_1h|_30m)?)"
    r"(?P<globally>_global)?(?:_(?P<tier>standard|batch|flex|priority))?$"
)
_MANTLE = re.compile(
    r"^[A-Z0-9]+-(?P<model>[a-z0-9]+\.[a-z0-9][a-z0-9.-]*?)-mantle-"
    r"(?P<kind>input|output|cache-read|cache-write)-tokens-(?P<tier>standard|batch|flex|priority)$"
)
_KINDS = {
    "InputTokenCount": "input",
    "OutputTokenCount": "output",
    "CacheReadInputTokenCount": "cache_read",
    "CacheWriteInputTokenCount": "cache_write",
    "CacheWrite1hInputTokenCount": "cache_write_1h",
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_tokens": "cache_read",
    "cache_write_tokens": "cache_write",
    "cache_write_tokens_30m": "cache_write",
    "cache_write_tokens_1h": "cache_write_1h",
    "input": "input",
    "output": "output",
    "cache-read": "cache_read",
    "cache-write": "cache_write",
}
_UNITS = {"1k tokens": 1_000, "1m tokens": 1_000_000}
_MARKET_UNITS = {**_UNITS, "units": 1_000_000}
_EDITION = re.compile(r"\s*\(Amazon Bedrock Edition\)$")


class PriceList(Protocol):
    """The one call of the price list service that is needed; a boto3 client of ``pricing`` has it."""

    def get_products(self, **request: object) -> Mapping[str, object]:
        """One page of products: ``PriceList`` holds JSON texts, ``NextToken`` leads on."""


@dataclass(frozen=True)
class _Use:
    """What one product is a price of."""

    model: str
    region_class: RegionClass
    tier: ServiceTier
    kind: str


def bedrock_products(client: PriceList, region: str) -> Iterator[str]:
    """The products of both services in ``region``, each a JSON text, page by page."""
    for service in SERVICES:
        request: dict[str, object] = {
            "ServiceCode": service,
            "Filters": [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": region}],
            "FormatVersion": "aws_v1",
        }
        for _ in range(MAX_PAGES):
            page = client.get_products(**request)
            products = page.get("PriceList")
            yield from (str(each) for each in products) if isinstance(products, list) else ()
            if not page.get("NextToken"):
                break
            request["NextToken"] = page["NextToken"]


def bedrock_candidates(products: Iterable[str], models: Sequence[str]) -> Reading:
    """The prices of ``products`` that can be rows, for the ids ``models`` that the book knows.

    The list names models of the marketplace by title (``Claude Opus 5.5``): such a title must be one of
    ``models`` without its maker. Where the list has an id it is taken as it is. Prices with no word of
    their region class are regional. Prompts beyond a length, reserved capacity and pictures are left out.
    """
    reading, titles = Reading(), _titles(models)
    found: dict[tuple[str, RegionClass, ServiceTier], dict[str, float]] = {}
    disputed: set[tuple[str, RegionClass, ServiceTier]] = set()
    for text in products:
        read = _product(text, titles)
        if isinstance(read, str):
            reading.skipped[read] += 1
            continue
        use, price = read
        key = (use.model, use.region_class, use.tier)
        if found.setdefault(key, {}).setdefault(use.kind, price) != price:
            disputed.add(key)
    for key, prices in found.items():
        model, region, tier = key
        try:
            made = RowPrices.model_validate(prices)
        except ValidationError:
            reading.skipped["no price of input and output tokens"] += 1
            continue
        if key in disputed:
            reading.skipped["products of one model disagree"] += 1
        else:
            reading.candidates.append(Candidate("bedrock", model, region, tier, 0, made, model))
    return settled(reading)


def _titles(models: Sequence[str]) -> dict[str, str]:
    """Ids by their bare title; a title that two ids share is no title of either."""
    titles: dict[str, list[str]] = {}
    for model in models:
        for text in (model.partition(".")[2] or model, model.replace(".", "-", 1)):
            titles.setdefault(_bare(text), []).append(model)
    return {title: ids[0] for title, ids in titles.items() if len(ids) == 1}


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _product(text: str, titles: Mapping[str, str]) -> tuple[_Use, float] | str:
    """What a product is a price of, and its dollars per million tokens; or why it is left out."""
    try:
        product = json.loads(text)
    except (ValueError, RecursionError):
        return "not JSON"
    attributes = _inside(product, "product", "attributes")
    usage = str(attributes.get("usagetype", ""))
    use = _market(usage, str(attributes.get("servicename", "")), titles)
    units = _MARKET_UNITS
    if use is None:
        use, units = _other(usage, attributes, titles), _UNITS
    if isinstance(use, str):
        return use
    price = _price(product, units)
    return (use, price) if isinstance(price, float) else price


def _market(usage: str, title: str, titles: Mapping[str, str]) -> _Use | str | None:
    matched = _MARKET.match(usage)
    if matched is None:
        return None
    text = matched["use"] or matched["short"]
    use = _OLD.match(text) or _NEW.match(text)
    kind = _KINDS.get(use["kind"]) if use else None
    if use is None or kind is None:
        return "another use than tokens, a long prompt, or a tier that is not kept"
    model = titles.get(_bare(_EDITION.sub("", title)))
    if model is None:
        return "a title that is no model of the book"
    region = RegionClass.GLOBAL if use["globally"] else RegionClass.REGIONAL
    tier = ServiceTier(use.groupdict().get("tier") or "standard")
    return _Use(model, region, tier, kind)


def _other(usage: str, attributes: Mapping[str, object], titles: Mapping[str, str]) -> _Use | str:
    mantle = _MANTLE.match(usage)
    if mantle is not None:
        model = model_id(mantle["model"]).normalised
        return _Use(model, RegionClass.REGIONAL, ServiceTier(mantle["tier"]), _KINDS[mantle["kind"]])
    kind = {"input tokens": "input", "output tokens": "output"}.get(
        str(attributes.get("inferenceType", "")).lower()
    )
    if kind is None or re.search(r"batch|flex|priority|global|custom|latency", usage.lower()):
        return "another use than tokens, a long prompt, or a tier that is not kept"
    found = titles.get(_bare(str(attributes.get("model", ""))))
    if found is None:
        return "a title that is no model of the book"
    return _Use(found, RegionClass.REGIONAL, ServiceTier.STANDARD, kind)


def _price(product: object, units: Mapping[str, int]) -> float | str:
    terms = _inside(product, "terms", "OnDemand")
    dimensions = [
        dimension
        for term in terms.values()
        for dimension in _inside(term, "priceDimensions").values()
        if isinstance(dimension, dict)
    ]
    if len(dimensions) != 1:
        return "not one price on demand"
    tokens = units.get(str(dimensions[0].get("unit", "")).lower())
    dollars = _inside(dimensions[0], "pricePerUnit").get("USD")
    if tokens is None:
        return "a unit that is not tokens"
    price = per_million(dollars, tokens) if isinstance(dollars, str) else None
    return price or "not a price in US dollars"


def _inside(value: object, *names: str) -> Mapping[str, object]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
