"""Asking a server: every way of not answering has its cause in words, within the time that was given."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import EndpointError
from runner.providers.asking import MAX_BYTES, Asker, Reply, printable
from tests.providers.servers import NOBODY, api, raw

PATIENCE = 0.6


def fault(address: str, *, seconds: float = PATIENCE) -> EndpointError:
    with Asker(seconds=seconds) as asker, pytest.raises(EndpointError) as caught:
        asker.get(f"{address}/v1/models")
    assert caught.value.remedy
    return caught.value


def test_a_port_where_nobody_listens_is_told_at_once() -> None:
    error = fault(NOBODY, seconds=60)
    assert "nothing listens at 127.0.0.1:" in error.what
    assert "--endpoint" in error.remedy


def test_an_unknown_host_is_named() -> None:
    assert "no-such-host.invalid is unknown" in fault("http://no-such-host.invalid", seconds=60).what


def test_a_server_that_hangs_ends_when_the_time_is_up() -> None:
    with raw(b"") as address:
        error = fault(address)
    assert "no answer within 0.6 seconds" in error.what


def test_a_body_that_drips_is_given_up_when_the_time_is_up() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n"
    began = time.monotonic()
    with raw(head + b"x" * 9000, drip_seconds=0.005) as address:
        error = fault(address)
    assert "no answer within" in error.what
    # Dripping to its end would take 45 s.
    assert time.monotonic() - began < 40


def test_what_speaks_no_http_is_told_apart() -> None:
    with raw(b"220 mail.example.org ESMTP\r\n\r\n") as address:
        assert "is no HTTP server" in fault(address, seconds=60).what


def test_a_server_without_tls_behind_an_https_address_offers_http() -> None:
    with raw(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        error = fault(address.replace("http://", "https://"), seconds=60)
    assert "does not speak TLS" in error.what
    assert f"--endpoint {address}/v1/models" in error.remedy


def test_a_connection_that_breaks_off_in_the_answer_is_told() -> None:
    def transport(_: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("connection reset by peer")

    with Asker(transport=httpx.MockTransport(transport)) as asker, pytest.raises(EndpointError) as caught:
        asker.get("http://h/v1/models")
    assert "h broke off (connection reset by peer)" in caught.value.what


def test_an_untrusted_certificate_names_the_variable_that_helps() -> None:
    import ssl

    def transport(_: httpx.Request) -> httpx.Response:
        cause = ssl.SSLCertVerificationError("certificate verify failed")
        cause.verify_message = "self-signed certificate"
        raise httpx.ConnectError("verify failed") from cause

    with Asker(transport=httpx.MockTransport(transport)) as asker, pytest.raises(EndpointError) as caught:
        asker.get("https://h/v1/models")
    assert "not trusted: self-signed certificate" in caught.value.what
    assert caught.value.remedy.startswith("export SSL_CERT_FILE=")


def test_an_endless_body_is_cut() -> None:
    def chunks() -> Iterator[bytes]:
        while True:
            yield b"x" * 1_000_000

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=chunks()))
    with Asker(transport=transport) as asker, pytest.raises(EndpointError, match="more than 5 MB"):
        asker.get("http://h/v1/models")
    assert MAX_BYTES == 5_000_000


def test_all_requests_share_one_span_of_time() -> None:
    now = [0.0]

    def answer(_: httpx.Request) -> httpx.Response:
        now[0] += 6
        return httpx.Response(200, json={})

    with Asker(transport=httpx.MockTransport(answer), seconds=10, clock=lambda: now[0]) as asker:
        asker.get("http://h/1")
        with pytest.raises(EndpointError, match="no answer within 10 seconds"):
            asker.get("http://h/2")
        with pytest.raises(EndpointError, match="no answer within 10 seconds"):
            asker.get("http://h/3")


def test_a_redirect_is_reported_and_not_followed() -> None:
    with api(lambda _: (302, ({"Location": "http://elsewhere/v1/models"}, ""))) as server:
        with Asker({"Authorization": "Bearer k"}) as asker:
            reply = asker.get(f"{server.base_url}/models")
        assert (reply.status, reply.location) == (302, "http://elsewhere/v1/models")
        assert len(server.seen) == 1


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", NOBODY)
    with api(lambda _: (200, {"data": []})) as server, Asker() as asker:
        assert asker.get(f"{server.base_url}/models").status == 200


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "wrong key", "type": "x"}}, "wrong key"),
        ({"error": "flat"}, "flat"),
        ({"message": "top"}, "top"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"msg": "field required"}]}, ""),
        ({"error": {"message": {"message": {"message": "deep"}}}}, ""),
        ({"error": None}, ""),
        ([1], ""),
        (None, ""),
    ],
)
def test_the_servers_own_words_are_found_where_servers_put_them(body: object, said: str) -> None:
    assert Reply(400, body).said == said


@given(st.text(max_size=600))
def test_no_text_of_a_server_can_steer_a_terminal_or_fill_it(text: str) -> None:
    line = printable(text)
    assert line.isprintable()
    assert len(line) <= 163


def test_the_key_is_not_in_the_representation() -> None:
    assert "k-123" not in repr(Asker({"Authorization": "Bearer k-123"}))
