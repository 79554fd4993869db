"""The vendors' own APIs: a fixed address, the usual variable, and the window where the vendor tells it."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.anthropic import Anthropic
from runner.providers.base import ProviderSettings
from runner.providers.openai import OpenAI
from runner.providers.vendor import VendorApi
from runner.records import Hosting

Answer = Callable[[httpx.Request], httpx.Response]
KEYS = {"ANTHROPIC_API_KEY": "anthropic-key-1", "OPENAI_API_KEY": "openai-key-1", "OTHER": "other-key-1"}


def endpoint_of(
    kind: type[Anthropic] | type[OpenAI], answer: Answer, settings: ProviderSettings | None = None
) -> Endpoint:
    found: VendorApi = kind(transport=httpx.MockTransport(answer))
    with found.session("model-1", settings or ProviderSettings(), KEYS) as session:
        return session.endpoint(found.protocols[0], run="r", scenario="d/t")


def test_anthropic_is_asked_for_its_one_model_with_key_and_version() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "https://api.anthropic.com/v1/models/model-1"
        assert request.headers["x-api-key"] == KEYS["ANTHROPIC_API_KEY"]
        assert request.headers["anthropic-version"]
        assert "authorization" not in request.headers
        return httpx.Response(200, json={"id": "model-1", "max_input_tokens": 200_000, "max_tokens": 64_000})

    endpoint = endpoint_of(Anthropic, answer)
    assert endpoint.context_window == 200_000
    assert (endpoint.base_url, endpoint.protocol) == ("https://api.anthropic.com", WireProtocol.MESSAGES)
    assert endpoint.api_key == KEYS["ANTHROPIC_API_KEY"]


def test_openai_speaks_two_protocols_and_tells_no_window() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == f"Bearer {KEYS['OPENAI_API_KEY']}"
        return httpx.Response(200, json={"id": "model-1", "object": "model", "owned_by": "openai"})

    endpoint = endpoint_of(OpenAI, answer)
    assert endpoint.context_window is None
    assert (endpoint.base_url, endpoint.protocol) == ("https://api.openai.com/v1", WireProtocol.RESPONSES)
    assert WireProtocol.CHAT_COMPLETIONS in OpenAI().protocols


@pytest.mark.parametrize("kind", [Anthropic, OpenAI])
def test_another_variable_may_hold_the_key(kind: type[Anthropic] | type[OpenAI]) -> None:
    answer = lambda _: httpx.Response(404)  # noqa: E731
    endpoint = endpoint_of(kind, answer, ProviderSettings(api_key_env="OTHER"))
    assert (endpoint.api_key, endpoint.context_window) == (KEYS["OTHER"], None)


@pytest.mark.parametrize("kind", [Anthropic, OpenAI])
def test_a_given_window_is_taken_and_nothing_is_asked(kind: type[Anthropic] | type[OpenAI]) -> None:
    def never(_: httpx.Request) -> httpx.Response:
        raise AssertionError("the vendor was asked")

    assert endpoint_of(kind, never, ProviderSettings(context_window=400_000)).context_window == 400_000


@pytest.mark.parametrize("kind", [Anthropic, OpenAI])
def test_another_address_is_refused_and_the_other_provider_is_named(
    kind: type[Anthropic] | type[OpenAI],
) -> None:
    with (
        pytest.raises(ConfigurationError) as caught,
        kind().session("m", ProviderSettings(base_url="http://h/v1"), KEYS),
    ):
        pytest.fail("an address was taken")
    assert "--provider endpoint" in caught.value.remedy


@pytest.mark.parametrize("kind", [Anthropic, OpenAI])
def test_a_missing_key_is_named_by_its_variable(kind: type[Anthropic] | type[OpenAI]) -> None:
    found: VendorApi = kind()
    with (
        pytest.raises(ConfigurationError, match=found.key_variable),
        found.session("m", ProviderSettings(), {}),
    ):
        pytest.fail("a session without a key")
    assert found.hosting is Hosting.VENDOR_API


@pytest.mark.parametrize("kind", [Anthropic, OpenAI])
def test_a_model_id_cannot_lead_to_another_path(kind: type[Anthropic] | type[OpenAI]) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path.decode())
        return httpx.Response(404)

    with kind(transport=httpx.MockTransport(answer)).session("../keys?x=1", ProviderSettings(), KEYS):
        assert seen == ["/v1/models/..%2Fkeys%3Fx%3D1"]
