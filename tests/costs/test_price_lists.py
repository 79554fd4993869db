"""Foreign lists of prices: what is taken of them, what is left out and why, and what is refused."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import RegionClass, ServiceTier
from runner.costs.litellm_prices import litellm_candidates
from runner.costs.llm_prices import llm_prices_candidates
from runner.costs.price_candidate import Candidate, Reading, per_million
from runner.costs.price_json import MAX_BYTES, read_price_json
from runner.errors import ConfigurationError
from tests.costs.price_examples import classes

SONNET = {
    "litellm_provider": "bedrock_converse",
    "mode": "chat",
    "input_cost_per_token": 2.2e-06,
    "output_cost_per_token": 1.1e-05,
    "cache_read_input_token_cost": 2.2e-07,
    "cache_creation_input_token_cost": 2.75e-06,
    "cache_creation_input_token_cost_above_1hr": 4.4e-06,
}


def entry(**changes: Any) -> dict[str, Any]:
    """An entry of the map of a model at its own vendor."""
    return {**SONNET, "litellm_provider": "anthropic", **changes}


def only(reading: Reading) -> Candidate:
    """The one candidate there is."""
    assert len(reading.candidates) == 1
    return reading.candidates[0]


def test_dollars_per_token_become_dollars_per_million_without_rounding_faults() -> None:
    found = only(litellm_candidates({"us.anthropic.claude-sonnet-5": SONNET}))
    assert classes(found.prices) == (2.2, 11.0, 0.22, 2.75, 4.4)
    assert (found.provider, found.model) == ("bedrock", "anthropic.claude-sonnet-5")
    assert found.region_class is RegionClass.REGIONAL
    assert found.entry == "us.anthropic.claude-sonnet-5"


def test_context_tiers_and_service_tiers_become_candidates_of_their_own() -> None:
    document = {
        "gpt-x": entry(
            litellm_provider="openai",
            input_cost_per_token_above_272k_tokens=4e-6,
            output_cost_per_token_above_272k_tokens=1.5e-5,
            cache_read_input_token_cost_above_272k_tokens=4e-7,
            input_cost_per_token_batches=1e-6,
            output_cost_per_token_batches=5e-6,
            input_cost_per_token_above_272k_tokens_priority=8e-6,
            output_cost_per_token_above_272k_tokens_priority=3e-5,
            input_cost_per_token_flex=1e-6,
            input_cost_per_token_ultrafast=9e-6,
        )
    }
    found = {
        (each.context_above, each.service_tier): each for each in litellm_candidates(document).candidates
    }
    assert set(found) == {
        (0, ServiceTier.STANDARD),
        (272_000, ServiceTier.STANDARD),
        (0, ServiceTier.BATCH),
        (272_000, ServiceTier.PRIORITY),
    }
    assert classes(found[272_000, ServiceTier.STANDARD].prices) == (4.0, 15.0, 0.4, None, None)
    assert classes(found[0, ServiceTier.BATCH].prices) == (1.0, 5.0, None, None, None)


def test_a_cache_price_of_nothing_is_unknown_and_a_free_model_is_no_price() -> None:
    free = entry(input_cost_per_token=0, output_cost_per_token=0)
    document = {"a": entry(cache_read_input_token_cost=0.0), "b": free}
    reading = litellm_candidates(document)
    assert only(reading).prices.cache_read is None
    assert reading.skipped == {"no price of input and output tokens": 1}


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("sample_spec", SONNET, "the example of the format"),
        ("x", "words", "not an object"),
        ("x", None, "not an object"),
        ("x", entry(litellm_provider="openrouter"), "a provider that the book does not keep"),
        ("x", entry(litellm_provider=["anthropic"]), "a provider that the book does not keep"),
        ("x", entry(mode="embedding"), "not a model that chats"),
        ("x", entry(mode=None), "not a model that chats"),
        ("eu.anthropic.x-1", SONNET, "the price of another region"),
        ("us-gov.anthropic.x-1", SONNET, "the price of another region"),
        ("bedrock/eu-west-1/anthropic.x-1", SONNET, "the price of another region"),
        ("x y\n", entry(), "a name that is no model id"),
        ("../../etc/x", entry(), "a name that is no model id"),
        ("x", entry(input_cost_per_token="2e-6"), "no price of input and output tokens"),
        ("x", entry(input_cost_per_token=-2e-6), "no price of input and output tokens"),
        ("x", entry(input_cost_per_token=True), "no price of input and output tokens"),
        ("x", entry(output_cost_per_token=5), "no price of input and output tokens"),
        ("x", {"litellm_provider": "anthropic", "mode": "chat"}, "no price of input and output tokens"),
    ],
)
def test_an_entry_that_cannot_be_a_row_is_counted_with_its_reason(name: str, value: Any, reason: str) -> None:
    reading = litellm_candidates({name: value, "good": entry()})
    assert only(reading).model == "good"
    assert reading.skipped == {reason: 1}


def test_an_undated_entry_goes_before_a_dated_one_and_a_profile_before_a_bare_id() -> None:
    dearer = {"input_cost_per_token": 9e-6}
    document = {
        "claude-x-1-20260101": entry(**dearer),
        "claude-x-1": entry(),
        "anthropic.claude-x-1": {**SONNET, **dearer},
        "us.anthropic.claude-x-1": SONNET,
    }
    found = litellm_candidates(document).candidates
    assert [(each.provider, each.prices.input) for each in found] == [("anthropic", 2.2), ("bedrock", 2.2)]


def test_entries_of_one_model_that_disagree_are_both_left_out() -> None:
    document = {
        "claude-x-1-20260101": entry(),
        "claude-x-1-20260202": entry(input_cost_per_token=9e-6),
    }
    reading = litellm_candidates(document)
    assert reading.candidates == []
    assert reading.skipped == {"entries of one model disagree": 2}


@pytest.mark.parametrize("document", [[], {}, "x", None, 3])
def test_what_is_no_map_of_models_is_refused(document: object) -> None:
    with pytest.raises(ConfigurationError, match="not the price map of LiteLLM"):
        litellm_candidates(document)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
names = st.sampled_from([*SONNET, "us.anthropic.x-1", "price_history", "id", "vendor", "input", "output"])


@given(st.dictionaries(names | st.text(max_size=9), json_values | st.just(SONNET), min_size=1, max_size=5))
def test_no_map_breaks_the_reader_and_each_entry_is_accounted_for(document: dict[str, Any]) -> None:
    reading = litellm_candidates(document)
    assert len({each.entry for each in reading.candidates}) + sum(reading.skipped.values()) >= 1
    assert all(each.prices.input >= 0 for each in reading.candidates)


VENDOR = {
    "vendor": "openai",
    "models": [
        {
            "id": "gpt-5.6-luna",
            "name": "GPT-5.6 Luna",
            "price_history": [
                {
                    "input": 1.0,
                    "output": 6.0,
                    "from_date": None,
                    "to_date": "2026-07-30",
                    "input_cached": 0.1,
                },
                {
                    "input": 0.2,
                    "output": 1.2,
                    "from_date": "2026-07-30",
                    "to_date": None,
                    "input_cached": 0.02,
                },
            ],
        },
        {
            "id": "gpt-5.6-luna-272k",
            "price_history": [
                {"input": 0.4, "output": 1.8, "from_date": "2026-07-30", "to_date": "2026-09-01"},
            ],
        },
    ],
}


def test_a_vendor_file_gives_prices_with_their_days_and_lengths() -> None:
    reading = llm_prices_candidates(VENDOR)
    short, long = reading.candidates
    assert (short.provider, short.model, short.context_above) == ("openai", "gpt-5.6-luna", 0)
    assert classes(short.prices) == (0.2, 1.2, 0.02, None, None)
    assert (short.effective_from, short.effective_to) == (date(2026, 7, 30), None)
    assert (long.model, long.context_above) == ("gpt-5.6-luna", 272_000)
    assert long.effective_to == date(2026, 8, 31)
    assert reading.skipped == {"a past price without its first day": 1}


def test_the_current_list_gives_prices_without_days() -> None:
    current = {"prices": [{"id": "grok-4.7", "vendor": "xai", "input": 2, "output": 6, "input_cached": None}]}
    found = only(llm_prices_candidates(current))
    assert (found.provider, found.model, found.effective_from) == ("xai", "grok-4.7", None)
    assert found.prices.cache_read is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"vendor": "amazon"}, "a vendor that the book does not keep"),
        ({"id": None}, "not an object with an id"),
        ({"id": "a b"}, "a name that is no model id"),
        ({"input": "2"}, "no price of input and output tokens"),
        ({"input": -2}, "no price of input and output tokens"),
        ({"output": None}, "no price of input and output tokens"),
        ({"from_date": "yesterday"}, "a day that is none"),
        ({"from_date": 20260101}, "a day that is none"),
        ({"from_date": "2026-02-01", "to_date": "2026-02-01"}, "a price that ends before it begins"),
    ],
)
def test_a_price_of_the_list_that_cannot_be_a_row_is_counted(wrong: dict[str, Any], reason: str) -> None:
    good = {"id": "grok-4.7", "vendor": "xai", "input": 2, "output": 6}
    reading = llm_prices_candidates({"prices": [{**good, **wrong}, good]})
    assert only(reading).model == "grok-4.7"
    assert reading.skipped == {reason: 1}


@pytest.mark.parametrize("document", [[], {}, {"prices": {}}, {"models": 3}, None])
def test_what_is_no_list_of_prices_is_refused(document: object) -> None:
    with pytest.raises(ConfigurationError, match="not a list of llm-prices"):
        llm_prices_candidates(document)


@given(st.lists(json_values, max_size=4), st.sampled_from(["prices", "models"]))
def test_no_list_breaks_the_reader(entries: list[Any], kind: str) -> None:
    reading = llm_prices_candidates({kind: entries, "vendor": "xai"})
    assert sum(reading.skipped.values()) + len(reading.candidates) >= min(1, len(entries))


def test_a_file_is_read_with_limits_before_it_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"a": [1, 2.5, None]}), encoding="utf-8")
    assert read_price_json(path) == {"a": [1, 2.5, None]}
    for text, expected in [
        ('{"a": 1, "a": 2}', "the name 'a' is given twice"),
        ('{"a": NaN}', "NaN is not a number"),
        ("[" * 100_000, "not a list of prices"),
        ("{", "not a list of prices"),
        ('{"a": ' + "9" * 5000 + "}", "not a list of prices"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError) as caught:
            read_price_json(path)
        assert expected in caught.value.message()
        assert str(path) in caught.value.message()


def test_a_file_that_is_not_text_too_large_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(b"\xff\xff")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_price_json(path)
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ConfigurationError, match="is larger than"):
        read_price_json(path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_price_json(tmp_path / "nowhere.json")


@given(st.floats() | st.integers() | st.text(max_size=6) | st.booleans())
def test_a_price_is_a_finite_amount_or_nothing(value: float | str | bool) -> None:
    price = per_million(value)
    assert price is None or 0 <= price <= 1_000_000


@given(st.integers(0, 10**9))
def test_a_millionth_of_a_dollar_per_million_survives(millionths: int) -> None:
    assert per_million(millionths / 10**6, 1_000_000) == round(millionths / 10**6, 6)
