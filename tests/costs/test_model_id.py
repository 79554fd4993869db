"""Raw ids of models and the forms a price list may know them by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs import RegionClass
from runner.costs.model_id import model_id


@pytest.mark.parametrize(
    ("raw", "normalised", "region"),
    [
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic.claude-haiku-4-5", "regional"),
        ("global.anthropic.claude-sonnet-5-5", "anthropic.claude-sonnet-5-5", "global"),
        ("us.anthropic.claude-opus-5[1m]", "anthropic.claude-opus-5", "regional"),
        ("eu.anthropic.claude-opus-4-6-v1", "anthropic.claude-opus-4-6", "regional"),
        ("apac.amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0", "regional"),
        ("ap.anthropic.claude-opus-5", "anthropic.claude-opus-5", "regional"),
        ("openai.gpt-oss-120b-1:0", "openai.gpt-oss-120b", None),
        ("qwen.qwen3-coder-480b-a35b-v1:0", "qwen.qwen3-coder-480b-a35b", None),
        ("Qwen3-Coder-30B-A3B-Instruct", "qwen3-coder-30b-a3b", None),
        ("gpt-5.5-2026-04-23", "gpt-5.5", None),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5", None),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5", None),
        ("deepseek-v3", "deepseek-v3", None),
        ("anthropic.claude-v2:1", "anthropic.claude-v2:1", None),
        ("kimi-k2.7-code", "kimi-k2.7-code", None),
        ("user.model", "user.model", None),
        ("us-gov.anthropic.claude-opus-5", "us-gov.anthropic.claude-opus-5", None),
    ],
)
def test_an_id_is_shortened_to_what_a_list_calls_it(raw: str, normalised: str, region: str | None) -> None:
    identity = model_id(raw)
    assert identity.normalised == normalised
    assert identity.region_class == (None if region is None else RegionClass(region))
    assert identity.raw == raw


def test_a_resource_name_and_the_provider_in_front_are_dropped() -> None:
    name = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5"
    assert model_id(name).normalised == "anthropic.claude-opus-5"
    assert model_id("bedrock/us.anthropic.claude-opus-5", "bedrock").normalised == "anthropic.claude-opus-5"
    assert model_id("moonshotai/kimi-k3", "bedrock").normalised == "moonshotai/kimi-k3"


def test_every_form_between_is_kept_and_every_cut_is_told() -> None:
    identity = model_id("us.anthropic.claude-haiku-4-5-20251001-v1:0")
    assert identity.forms == (
        "anthropic.claude-haiku-4-5-20251001-v1:0",
        "anthropic.claude-haiku-4-5-20251001",
        "anthropic.claude-haiku-4-5",
    )
    assert identity.steps == (
        "the prefix us. says regional: anthropic.claude-haiku-4-5-20251001-v1:0",
        "the version is dropped: anthropic.claude-haiku-4-5-20251001",
        "the date is dropped: anthropic.claude-haiku-4-5",
    )


pieces = st.sampled_from(
    [
        "us.",
        "global.",
        "arn:aws:x:inference-profile/",
        "bedrock/",
        "anthropic.",
        "claude",
        "-4-5",
        "-v1",
        ":0",
        "[1m]",
        "-20251001",
        "-2026-04-23",
        "-instruct",
        "@20251001",
        " ",
        "-",
        ".",
        "İ",
        "x",
    ]
)


@given(st.one_of(st.text(max_size=40), st.lists(pieces, max_size=9).map("".join)))
def test_shortening_what_is_short_changes_nothing(raw: str) -> None:
    once = model_id(raw, "bedrock")
    twice = model_id(once.normalised, "bedrock")
    assert twice.normalised == once.normalised
    assert twice.steps == ()


@given(st.lists(pieces, max_size=9).map("".join))
def test_each_form_is_no_longer_than_the_one_before(raw: str) -> None:
    forms = model_id(raw).forms
    assert sorted(forms, key=len, reverse=True) == list(forms)
    assert len(set(forms)) == len(forms)
