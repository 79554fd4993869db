"""Pinning: an answer belongs to the mapping that was asked, and is a fresh one, unless a user allows else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest
from pydantic import JsonValue, ValidationError

from runner.endpoint.capabilities import Capabilities
from runner.endpoint.pinning import Gateway, Words, merged
from runner.endpoint.request import AskRequest, Protocol
from runner.endpoint.suites.asking import Manner, request_for
from runner.endpoint.suites.case import Slot
from runner.endpoint.suites.catalogue import SMOKE_CASES
from runner.endpoint.target import MappingEntry, Target


def target(
    provider: str, gateway: Gateway | None = None, parameters: Mapping[str, JsonValue] | None = None
) -> Target:
    entry = MappingEntry(
        provider=provider,
        model_id="m",
        protocol=Protocol.CHAT_COMPLETIONS,
        base_url="https://gateway.example/v1",
        gateway=gateway,
        capabilities=Capabilities(parameters=parameters or {}),
        source="made up",
        checked_on=date(2026, 11, 30),
    )
    return Target("m", "M", entry)


def asked(target: Target, *, cache: bool = False, fallback: bool = False) -> AskRequest:
    manner = Manner(salt="s", allow_cache=cache, allow_fallback=fallback)
    return request_for(SMOKE_CASES[0], SMOKE_CASES[0].puzzle(1, Slot(1)), Slot(1), target, manner).request


@pytest.mark.parametrize(
    ("provider", "headers", "parameters"),
    [
        ("local", {"x-no-cache": "true", "x-no-fallback": "true"}, {}),
        ("llmgateway", {"x-no-cache": "true", "x-no-fallback": "true"}, {}),
        ("openrouter", {}, {"provider": {"allow_fallbacks": False}}),
        ("litellm", {}, {"cache": {"no-cache": True}, "disable_fallbacks": True}),
        ("cloudflare", {"cf-aig-skip-cache": "true"}, {}),
        ("openai", {}, {}),
    ],
)
def test_a_gateway_is_told_to_use_no_cache_and_no_other_provider(
    provider: str, headers: dict[str, str], parameters: dict[str, JsonValue]
) -> None:
    request = asked(target(provider))
    assert (dict(request.headers), dict(request.parameters)) == (headers, parameters)
    allowed = asked(target(provider), cache=True, fallback=True)
    assert (dict(allowed.headers), dict(allowed.parameters)) == ({}, {})


def test_each_of_both_can_be_allowed_alone() -> None:
    assert dict(asked(target("local"), cache=True).headers) == {"x-no-fallback": "true"}
    assert dict(asked(target("local"), fallback=True).headers) == {"x-no-cache": "true"}


def test_a_mapping_of_a_gateway_that_nobody_knows_says_itself_what_it_understands() -> None:
    own = Gateway(no_cache=Words(headers={"x-bypass": "1"}), no_fallback=Words(parameters={"route": "only"}))
    request = asked(target("somebody", own))
    assert (dict(request.headers), dict(request.parameters)) == ({"x-bypass": "1"}, {"route": "only"})
    assert dict(asked(target("local", Gateway())).headers) == {}


def test_what_a_file_says_of_the_same_key_is_kept_beside_it_and_has_the_last_word() -> None:
    order = target("openrouter", parameters={"provider": {"order": ["deepinfra"]}})
    assert asked(order).parameters == {"provider": {"allow_fallbacks": False, "order": ["deepinfra"]}}
    assert merged(({"a": {"b": 1}}, {"a": {"b": 2}}, {"c": None}, {"a": 3})) == {"a": 3, "c": None}
    assert asked(target("litellm", parameters={"cache": None})).parameters["cache"] is None


def test_a_key_among_the_headers_of_a_gateway_is_refused() -> None:
    own = Gateway(no_cache=Words(headers={"Authorization": "Bearer x"}))
    with pytest.raises(ValidationError, match="must hold no key"):
        target("somebody", own)
