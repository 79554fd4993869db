"""The price list of the cloud: asked page by page through the real client, read product by product."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.costs import RegionClass, ServiceTier
from runner.costs.bedrock_prices import SERVICES, bedrock_candidates, bedrock_products
from runner.costs.price_candidate import Candidate, Reading
from tests.costs.price_examples import classes

OPUS, HAIKU, GLM = "anthropic.claude-opus-5-5", "anthropic.claude-haiku-4-5", "zai.glm-5.3"
ASTRA = "openai.gpt-6-astra"
KNOWN = (OPUS, HAIKU, GLM, ASTRA)


def product(usage: str, usd: str, unit: str = "1M tokens", **attributes: str) -> str:
    """One product as the service sends it: a JSON text."""
    dimension = {"unit": unit, "pricePerUnit": {"USD": usd}, "beginRange": "0", "endRange": "Inf"}
    term = {"priceDimensions": {"SKU.T.D": dimension}, "effectiveDate": "2026-11-01T00:00:00Z"}
    named = {"regionCode": "us-east-1", "usagetype": usage, **attributes}
    return json.dumps(
        {"product": {"sku": "SKU", "attributes": named}, "terms": {"OnDemand": {"SKU.T": term}}}
    )


def market(use: str, usd: str, title: str = "Claude Opus 5.5", unit: str = "1M tokens") -> str:
    """A product of the marketplace service."""
    return product(f"USE1-MP:USE1_{use}-Units", usd, unit, servicename=f"{title} (Amazon Bedrock Edition)")


def by_key(reading: Reading) -> Mapping[tuple[str, RegionClass, ServiceTier], Candidate]:
    """The candidates by model, region class and tier."""
    return {(each.model, each.region_class, each.service_tier): each for each in reading.candidates}


NEW_NAMES = [
    market("input_tokens_standard", "4.4000000000"),
    market("output_tokens_standard", "22.0000000000"),
    market("cache_read_tokens_standard", "0.2200000000"),
    market("cache_write_tokens_standard", "5.5000000000"),
    market("cache_write_tokens_1h_standard", "8.8000000000"),
    market("input_tokens_global_standard", "4.0000000000"),
    market("output_tokens_global_standard", "20.0000000000"),
    market("input_tokens_batch", "2.2000000000"),
    market("output_tokens_batch", "11.0000000000"),
]
OLD_NAMES = [
    market("InputTokenCount", "1.1", "Claude Haiku 4.5"),
    market("OutputTokenCount", "5.5", "Claude Haiku 4.5"),
    market("CacheReadInputTokenCount", "0.11", "Claude Haiku 4.5"),
    market("CacheWriteInputTokenCount", "1.375", "Claude Haiku 4.5"),
    market("CacheWrite1hInputTokenCount", "2.2", "Claude Haiku 4.5"),
    market("InputTokenCount_Global", "1.0", "Claude Haiku 4.5"),
    market("OutputTokenCount_Global", "5.0", "Claude Haiku 4.5"),
]
WITH_IDS = [
    product("USE1-zai.glm-5.3-mantle-input-tokens-standard", "0.001848", "1K tokens"),
    product("USE1-zai.glm-5.3-mantle-output-tokens-standard", "0.005808", "1K tokens"),
    product("USE1-zai.glm-5.3-mantle-input-tokens-flex", "0.000924", "1K tokens"),
    product("USE1-zai.glm-5.3-mantle-output-tokens-flex", "0.002904", "1K tokens"),
]


def test_both_ways_to_name_a_use_give_prices_by_region_class_and_tier() -> None:
    found = by_key(bedrock_candidates([*NEW_NAMES, *OLD_NAMES], KNOWN))
    regional, worldwide, standard = RegionClass.REGIONAL, RegionClass.GLOBAL, ServiceTier.STANDARD
    assert {key: classes(each.prices) for key, each in found.items()} == {
        (OPUS, regional, standard): (4.4, 22.0, 0.22, 5.5, 8.8),
        (OPUS, worldwide, standard): (4.0, 20.0, None, None, None),
        (OPUS, regional, ServiceTier.BATCH): (2.2, 11.0, None, None, None),
        (HAIKU, regional, standard): (1.1, 5.5, 0.11, 1.375, 2.2),
        (HAIKU, worldwide, standard): (1.0, 5.0, None, None, None),
    }


def test_a_price_of_a_thousand_tokens_becomes_one_of_a_million() -> None:
    found = by_key(bedrock_candidates(WITH_IDS, ()))
    assert classes(found[GLM, RegionClass.REGIONAL, ServiceTier.STANDARD].prices)[:2] == (1.848, 5.808)
    assert classes(found[GLM, RegionClass.REGIONAL, ServiceTier.FLEX].prices)[:2] == (0.924, 2.904)


def test_a_title_with_its_maker_and_a_plain_title_are_found() -> None:
    titled = [
        market("input_tokens_standard", "11", "OpenAI GPT-6 Astra"),
        market("output_tokens_standard", "55", "OpenAI GPT-6 Astra"),
        market("cache_write_tokens_30m_standard", "13.75", "OpenAI GPT-6 Astra"),
        product("USE1-GLM-input-tokens", "0.001", "1K tokens", model="GLM 5.3", inferenceType="Input tokens"),
        product(
            "USE1-GLM-output-tokens", "0.003", "1K tokens", model="GLM 5.3", inferenceType="Output tokens"
        ),
    ]
    found = by_key(bedrock_candidates(titled, KNOWN))
    astra = found[ASTRA, RegionClass.REGIONAL, ServiceTier.STANDARD].prices
    assert (astra.input, astra.output, astra.cache_write) == (11.0, 55.0, 13.75)
    glm = found[GLM, RegionClass.REGIONAL, ServiceTier.STANDARD].prices
    assert (glm.input, glm.output) == (1.0, 3.0)


OTHER_USE = "another use than tokens, a long prompt, or a tier that is not kept"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not json", "not JSON"),
        ("[" * 90_000, "not JSON"),
        (market("input_tokens_long_ctx_standard", "22"), OTHER_USE),
        (market("Reserved_1Month_InputTPM_Geo", "0.066"), OTHER_USE),
        (product("USE1-Ray-V2-Medfps", "1.5", "Second"), OTHER_USE),
        (product("USE1-x-batch", "1", model="GLM 5.3", inferenceType="Input tokens"), OTHER_USE),
        (market("input_tokens_standard", "3", "Claude Opus 99"), "a title that is no model of the book"),
        (
            product("x", "1", model="Nova", inferenceType="Input tokens"),
            "a title that is no model of the book",
        ),
        (market("input_tokens_standard", "3", unit="1M TPM Hour"), "a unit that is not tokens"),
        (product("USE1-zai.glm-5.3-mantle-input-tokens-standard", "3", "Units"), "a unit that is not tokens"),
        (market("input_tokens_standard", "free"), "not a price in US dollars"),
        (market("input_tokens_standard", "-1"), "not a price in US dollars"),
        (market("input_tokens_standard", "0.0000000000"), "not a price in US dollars"),
        (market("input_tokens_standard", "1").replace('"USD"', '"CNY"'), "not a price in US dollars"),
        (market("input_tokens_standard", "1").replace('"OnDemand"', '"Reserved"'), "not one price on demand"),
        ("null", OTHER_USE),
        ("{}", OTHER_USE),
        ('{"product": [], "terms": 3}', OTHER_USE),
    ],
)
def test_a_product_that_is_no_price_of_tokens_is_counted(text: str, reason: str) -> None:
    reading = bedrock_candidates([text, *OLD_NAMES], KNOWN)
    assert reading.skipped == {reason: 1}
    assert len(reading.candidates) == 2


def test_a_model_with_half_its_prices_or_two_of_one_kind_is_left_out() -> None:
    assert bedrock_candidates(NEW_NAMES[:1], KNOWN).skipped == {"no price of input and output tokens": 1}
    twice = [*OLD_NAMES[:2], market("InputTokenCount", "9", "Claude Haiku 4.5")]
    assert bedrock_candidates(twice, KNOWN).skipped == {"products of one model disagree": 1}
    assert bedrock_candidates([*OLD_NAMES[:2], OLD_NAMES[0]], KNOWN).skipped == {}


def test_a_title_that_two_models_of_the_book_share_names_neither() -> None:
    reading = bedrock_candidates(OLD_NAMES[:2], (HAIKU, "other.claude-haiku-4-5"))
    assert reading.skipped == {"a title that is no model of the book": 2}


def stubbed() -> tuple[Any, Stubber]:
    """A real client of the service whose answers are given."""
    client = boto3.client(
        "pricing", region_name="us-east-1", aws_access_key_id="none", aws_secret_access_key="none"
    )
    return client, Stubber(client)


def request(service: str, **more: str) -> dict[str, Any]:
    """What the service must be asked."""
    match = {"Type": "TERM_MATCH", "Field": "regionCode", "Value": "eu-west-1"}
    return {"ServiceCode": service, "Filters": [match], "FormatVersion": "aws_v1", **more}


def test_both_services_are_asked_page_by_page() -> None:
    client, stub = stubbed()
    market_service, other = SERVICES
    stub.add_response(
        "get_products", {"PriceList": NEW_NAMES[:1], "NextToken": "on"}, request(market_service)
    )
    stub.add_response("get_products", {"PriceList": NEW_NAMES[1:2]}, request(market_service, NextToken="on"))
    stub.add_response("get_products", {"PriceList": WITH_IDS}, request(other))
    with stub:
        products = list(bedrock_products(client, "eu-west-1"))
    stub.assert_no_pending_responses()
    assert len(products) == 6
    assert {each.model for each in bedrock_candidates(products, KNOWN).candidates} == {OPUS, GLM}


uses = st.from_regex(r"USE1-(MP:USE1_)?[a-zA-Z._-]{0,30}(-Units)?", fullmatch=True)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=30) | st.builds(product, uses, st.text(max_size=6)), max_size=5))
def test_no_product_breaks_the_reader(products: list[str]) -> None:
    reading = bedrock_candidates(products, KNOWN)
    assert sum(reading.skipped.values()) >= min(1, len(products)) - len(reading.candidates)
