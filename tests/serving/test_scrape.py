"""Scrapes of hostile and broken servers: always an answer, within its time, never more than its bounds."""

from __future__ import annotations

import asyncio
import gzip
import time
from http.server import BaseHTTPRequestHandler

import pytest

from runner.errors import UsageError
from runner.serving import scrape as module
from runner.serving.database import Answer
from runner.serving.scrape import bearer, checked_metrics_url, client_for, metrics_url_of, scrape
from tests.serving.stage import Serve, answer, counting, page, serving


def asked(url: str, timeout: float = 60.0, key: str = "") -> Answer:
    async def ask() -> Answer:
        async with client_for(key) as client:
            return await scrape(client, url, timeout_seconds=timeout)

    return asyncio.run(ask())


def test_an_answered_scrape_has_samples_and_the_instant_between_question_and_answer() -> None:
    def slowly(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(0.2)
        answer(handler, page(5).encode())

    with serving(slowly) as server:
        before = time.time()
        found = asked(server.url)
        after = time.time()
    assert found.error == ""
    assert [sample.value for sample in found.samples] == [5.0]
    assert found.scraped_at.timestamp() - before >= 0.1
    assert after - found.scraped_at.timestamp() >= 0.1
    assert found.duration_ms >= 200


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(400):
        handler.wfile.write(b"#")
        handler.wfile.flush()
        time.sleep(0.05)


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b"# " + b"x" * 99_998)


def silent(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(3)


def zipped(handler: BaseHTTPRequestHandler) -> None:
    answer(handler, gzip.compress(page(1).encode()), content_encoding="gzip")


def short(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b"vllm:x 1\n")


@pytest.mark.parametrize(
    ("serve", "why"),
    [
        (lambda handler: answer(handler, b"no", 503), "status 503"),
        (lambda handler: answer(handler, b"", 302, location="http://127.0.0.1:1/"), "status 302"),
        (lambda handler: answer(handler, b"<html>" * 10), "no metric"),
        (lambda handler: answer(handler, bytes(range(256))), "no metric"),
        (dripping, "no whole answer within"),
        (silent, "no whole answer within"),
        (endless, "larger than 16 MB"),
        (zipped, "encoding that was not asked for"),
        (short, "RemoteProtocolError"),
    ],
    ids=["status", "redirect", "html", "bytes", "drip", "silence", "endless", "gzip", "short"],
)
def test_a_broken_answer_is_an_error_within_its_time(serve: Serve, why: str) -> None:
    with serving(serve) as server:
        # Only where it is meant to pass: on a busy machine anything can take so long.
        found = asked(server.url, timeout=0.5 if serve in {dripping, silent} else 60.0)
    assert why in found.error
    assert found.samples == []
    assert len(found.error) <= module.MAX_SAID
    assert found.error.isprintable()


def test_a_server_that_is_not_there_is_an_error() -> None:
    with serving(counting()) as server:
        url = server.url
    assert "ConnectError" in asked(url).error


def test_the_key_goes_out_as_a_bearer_token_and_into_no_error() -> None:
    heard: list[str] = []

    def refuse(handler: BaseHTTPRequestHandler) -> None:
        heard.append(handler.headers["authorization"])
        answer(handler, b"", 401)

    with serving(refuse) as server:
        found = asked(server.url, key="secret-key-0123")
    assert heard == ["Bearer secret-key-0123"]
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://h:1/v1", "http://h:1/metrics"),
        ("http://h:1/v1/", "http://h:1/metrics"),
        ("http://h:1", "http://h:1/metrics"),
        ("https://h/api/v1", "https://h/api/metrics"),
    ],
)
def test_the_page_stands_in_the_place_of_the_version(base: str, url: str) -> None:
    assert checked_metrics_url(metrics_url_of(base)) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h/metrics",
        "file:///etc/passwd",
        "http://",
        "http://u:p@h/metrics",
        "http://h/m?key=1",
        "http://h:x/m",
        "http://h:0/m",
        "http://[::/m",
    ],
)
def test_an_address_that_cannot_be_asked_or_stored_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        checked_metrics_url(url)


@pytest.mark.parametrize("value", ["", " ", "two\nlines", "kéy"])
def test_a_variable_without_a_usable_key_is_named_and_not_shown(value: str) -> None:
    with pytest.raises(UsageError, match="MY_KEY") as caught:
        bearer("MY_KEY", {"MY_KEY": value})
    assert value.strip() == "" or value not in str(caught.value)
    assert bearer(None, {}) == ""
    assert bearer("MY_KEY", {"MY_KEY": " abc "}) == "abc"
