"""Any compatible endpoint: its address is checked, its key is named, its context window is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.providers.address import checked_base_url
from runner.providers.base import ProviderSettings
from runner.providers.compatible import CompatibleEndpoint
from runner.records import Hosting
from runner.replay import ReplayServer
from tests.replay.tapes import tape

BASE = "http://127.0.0.1:8000/v1"


def endpoint_of(
    settings: ProviderSettings, answer: Callable[[httpx.Request], httpx.Response], **environment: str
) -> Endpoint:
    found = CompatibleEndpoint(transport=httpx.MockTransport(answer))
    with found.session("vendor/m", settings, environment) as session:
        return session.endpoint(WireProtocol.CHAT_COMPLETIONS, run="r", scenario="d/t")


def models(*entries: object) -> Callable[[httpx.Request], httpx.Response]:
    return lambda _: httpx.Response(200, json={"data": list(entries)})


def test_the_window_is_read_where_the_server_tells_it() -> None:
    answer = models({"id": "other", "max_model_len": 1}, {"id": "vendor/m", "max_model_len": 32_768})
    assert endpoint_of(ProviderSettings(base_url=BASE), answer).context_window == 32_768


def test_the_window_a_user_gives_is_taken_without_asking() -> None:
    def never(_: httpx.Request) -> httpx.Response:
        raise AssertionError("the server was asked")

    assert endpoint_of(ProviderSettings(base_url=BASE, context_window=5), never).context_window == 5


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"[]",
        b'{"data": 7}',
        b'{"data": [7, {"id": "vendor/m"}]}',
        b'{"data": [{"id": "vendor/m", "max_model_len": "many"}]}',
        b'{"data": [{"id": "vendor/m", "max_model_len": 0}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_that_tells_no_window_leaves_it_unknown(body: bytes) -> None:
    answer = lambda _: httpx.Response(200, content=body)  # noqa: E731
    assert endpoint_of(ProviderSettings(base_url=BASE), answer).context_window is None


@pytest.mark.parametrize("status", [301, 401, 404, 500])
def test_a_refusal_leaves_the_window_unknown(status: int) -> None:
    answer = lambda _: httpx.Response(status)  # noqa: E731
    assert endpoint_of(ProviderSettings(base_url=BASE), answer).context_window is None


def test_a_server_that_is_not_there_leaves_the_window_unknown() -> None:
    def refused(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    assert endpoint_of(ProviderSettings(base_url=BASE), refused).context_window is None


def test_the_key_comes_from_the_named_variable_and_goes_only_into_the_header() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    settings = ProviderSettings(base_url=BASE + "/", api_key_env="MY_KEY")
    endpoint = endpoint_of(settings, answer, MY_KEY=" key-123 \n")
    assert endpoint.api_key == "key-123"
    assert endpoint.base_url == BASE
    assert [(str(request.url), request.headers["authorization"]) for request in seen] == [
        (BASE + "/models", "Bearer key-123")
    ]
    assert "key-123" not in repr(endpoint)


def test_without_a_variable_no_key_is_sent() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert "authorization" not in request.headers
        return httpx.Response(200, json={})

    assert endpoint_of(ProviderSettings(base_url=BASE), answer).api_key == ""


@pytest.mark.parametrize("value", ["", "  ", "two\nlines", "k\u00e9y"])
def test_a_key_that_cannot_be_one_is_a_mistake_of_the_user_and_is_not_shown(value: str) -> None:
    settings = ProviderSettings(base_url=BASE, api_key_env="MY_KEY")
    with pytest.raises(ConfigurationError, match="MY_KEY") as caught:
        endpoint_of(settings, models(), MY_KEY=value)
    assert not value.strip() or value not in str(caught.value)
    with pytest.raises(ConfigurationError, match="is not set"):
        endpoint_of(settings, models())


@pytest.mark.parametrize(
    "text",
    [None, "", "127.0.0.1:8000", "ftp://host/v1", "file:///etc/passwd", "http://", "http:///v1", "http://h:0/v1",
     "http://h:99999/v1", "http://[::1/v1", "http://h/v1?x=1", "http://h/v1#f"],
)  # fmt: skip
def test_an_address_that_cannot_work_is_refused(text: str | None) -> None:
    with pytest.raises(ConfigurationError):
        checked_base_url(text)


@pytest.mark.parametrize("text", ["http://user:secret-word@host/v1", "https://secret-word@host/v1"])
def test_an_address_with_credentials_is_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(ConfigurationError, match="holds credentials") as caught:
        checked_base_url(text)
    assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize("text", ["http://h/v1", "https://h:8443/a/b", "http://[::1]:8000/v1", "http://h"])
def test_a_good_address_is_taken_without_its_last_slash(text: str) -> None:
    assert checked_base_url(f" {text}/ ") == text


@given(st.text(max_size=30) | st.text(max_size=20).map(lambda text: f"http://{text}"))
def test_any_text_is_an_address_or_a_clear_refusal(text: str) -> None:
    try:
        checked = checked_base_url(text)
    except ConfigurationError:
        return
    assert checked.lower().startswith(("http://", "https://"))
    assert not checked.endswith("/")


def test_hosting_is_unknown_and_prices_are_passed_on() -> None:
    prices = TokenPrices(input=1.0, output=2.0)
    assert CompatibleEndpoint().hosting is Hosting.UNKNOWN
    assert endpoint_of(ProviderSettings(base_url=BASE, prices=prices), models()).prices == prices


def test_it_reads_the_window_of_a_real_server(tmp_path: Path) -> None:
    with ReplayServer(tape(tmp_path)) as server:
        settings = ProviderSettings(base_url=server.base_url + "/v1")
        with CompatibleEndpoint().session("m", settings, {}) as session:
            found = session.endpoint(WireProtocol.CHAT_COMPLETIONS, run="r", scenario="d/t")
    assert found.context_window == 4096


@pytest.mark.parametrize(
    ("base", "protocol", "expected"),
    [
        (BASE, WireProtocol.MESSAGES, "http://127.0.0.1:8000"),
        (BASE, WireProtocol.CHAT_COMPLETIONS, BASE),
        (BASE + "/", WireProtocol.RESPONSES, BASE),
        ("http://h/anthropic", WireProtocol.MESSAGES, "http://h/anthropic"),
    ],
)
def test_each_protocol_gets_the_address_its_clients_expect(
    base: str, protocol: WireProtocol, expected: str
) -> None:
    found = CompatibleEndpoint(transport=httpx.MockTransport(models()))
    with found.session("m", ProviderSettings(base_url=base), {}) as session:
        assert session.endpoint(protocol, run="r", scenario="d/t").base_url == expected


def test_an_endless_list_of_models_is_not_read_to_its_end() -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b" " * 1_000_000

    answer = lambda _: httpx.Response(200, content=endless())  # noqa: E731
    assert endpoint_of(ProviderSettings(base_url=BASE), answer).context_window is None
    assert read < 20
