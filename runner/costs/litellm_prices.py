"""LiteLLM prices: candidates from the price map of LiteLLM, dollars per token by model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from runner.costs.model_id import model_id
from runner.costs.price_candidate import Candidate, Reading, per_million, settled
from runner.costs.price_row import MODEL_PATTERN, RegionClass, RowPrices, ServiceTier
from runner.errors import ConfigurationError

PROVIDERS: Mapping[str, str] = {
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "bedrock_converse": "bedrock",
    "bedrock_mantle": "bedrock",
    "dashscope": "dashscope",
    "deepseek": "deepseek",
    "gemini": "google",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshot": "moonshot",
    "openai": "openai",
    "xai": "xai",
    "zai": "zai",
}
"""Providers of the list whose prices the book keeps, and their names there."""
MODES = frozenset({"chat", "responses"})
_FIELD = re.compile(
    r"^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|"
    r"cache_creation_input_token_cost)(_above_1hr)?(?:_above_(\d{1,5})k_tokens)?"
    r"(?:_(batches|flex|priority))?$"
)
_CLASS = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
}
_TIER = {None: ServiceTier.STANDARD, "batches": ServiceTier.BATCH}
_OTHER_GEOGRAPHY = re.compile(r"^(?:us-gov|eu|ap|apac|au|ca|jp|sa|me|af|in|uk|mx|il)\.")
Part = tuple[int, ServiceTier]


def litellm_candidates(document: object) -> Reading:
    """The prices in the map that can be rows, and why the other entries cannot.

    Of Bedrock the profiles ``us.`` and ``global.`` and ids without a prefix are taken, which is what the
    book means by regional and global. A price of 0 of a cache class is unknown, not free.

    Raises:
        ConfigurationError: the document is no map of models.
    """
    if not isinstance(document, dict) or not document:
        raise ConfigurationError("not the price map of LiteLLM: it holds no object of models")
    reading = Reading()
    for name, entry in document.items():
        reason = _refusal(name, entry)
        if reason:
            reading.skipped[reason] += 1
            continue
        found = list(_candidates(name, entry))
        reading.candidates.extend(found)
        if not found:
            reading.skipped["no price of input and output tokens"] += 1
    return settled(reading)


def _refusal(name: str, entry: object) -> str:
    if name == "sample_spec":
        return "the example of the format"
    if not isinstance(entry, dict):
        return "not an object"
    provider = PROVIDERS.get(str(entry.get("litellm_provider")))
    if provider is None:
        return "a provider that the book does not keep"
    if entry.get("mode") not in MODES:
        return "not a model that chats"
    own, text = _own_name(name)
    if provider == "bedrock" and ("/" in text or _OTHER_GEOGRAPHY.match(text)):
        return "the price of another region"
    if "/" in own or not re.match(MODEL_PATTERN, own):
        return "a name that is no model id"
    return ""


def _own_name(name: str) -> tuple[str, str]:
    first, _, rest = name.partition("/")
    text = rest if rest and first in PROVIDERS else name
    return model_id(text).normalised, text


def _candidates(name: str, entry: Mapping[str, object]) -> Iterator[Candidate]:
    provider = PROVIDERS[str(entry["litellm_provider"])]
    own, text = _own_name(name)
    identity = model_id(text)
    region, rank = RegionClass.ANY, len(identity.forms)
    if provider == "bedrock":
        region = identity.region_class or RegionClass.REGIONAL
        rank = 0 if identity.region_class else 10 + ("/" in name)
    for (context, tier), prices in _parts(entry).items():
        try:
            made = RowPrices.model_validate(prices)
        except ValidationError:
            continue
        if made.input or made.output:
            yield Candidate(provider, own, region, tier, context * 1000, made, name, rank)


def _parts(entry: Mapping[str, object]) -> dict[Part, dict[str, float | None]]:
    """Prices by context tier in thousands and service tier."""
    found: dict[Part, dict[str, float | None]] = {}
    for name, value in entry.items():
        matched = _FIELD.match(name)
        if matched is None or not isinstance(value, int | float):
            continue
        base, hour, context, tier = matched.groups()
        if hour and base != "cache_creation_input_token_cost":
            continue
        price = per_million(value)
        kind = "cache_write_1h" if hour else _CLASS[base]
        part = (int(context or 0), _TIER.get(tier) or ServiceTier(tier))
        found.setdefault(part, {})[kind] = price or None if kind.startswith("cache") else price
    return found
