"""Scrape: one question to a server's page of metrics, with bounds on its time and its size."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import httpx

from runner.errors import EndpointError, UsageError
from runner.records import require_variable_name
from runner.serving.database import Answer
from runner.serving.exposition import PREFIX, samples_in

MAX_PAGE_BYTES = 16_000_000
MAX_SAID = 300
VERSION_PATH = "/v1"
METRICS_PATH = "/metrics"
# Each question on a connection of its own: a server that was started again is no failed scrape.
LIMITS = httpx.Limits(max_keepalive_connections=0)
# The whole scrape has one limit, which no trickle of bytes can stretch.
WITHOUT = httpx.Timeout(None)
HEADERS = {"Accept": "text/plain;version=0.0.4;q=1,*/*;q=0.1", "Accept-Encoding": "identity"}


def metrics_url_of(base_url: str) -> str:
    """Where a server whose API is at ``base_url`` (with or without ``/v1``) has its metrics."""
    return base_url.rstrip("/").removesuffix(VERSION_PATH) + METRICS_PATH


def checked_metrics_url(text: str) -> str:
    """``text``, when it is an address that can be asked and stored.

    Raises:
        UsageError: it is not http or https with a host, or holds credentials.
    """
    try:
        parts = urlsplit(text)
        fine = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        fine = False
    if not fine:
        raise UsageError(
            "the address of the metrics must be http or https with a host",
            remedy="as in http://127.0.0.1:8000/metrics",
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(
            "the address of the metrics holds credentials or a query, which would be stored",
            remedy="take them out and name the key's environment variable with --api-key-env",
        )
    return text


def client_for(key: str = "", transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """A client for scrapes. ``key`` is sent as a bearer token; ``transport`` is None for the real network."""
    headers = {**HEADERS, **({"Authorization": f"Bearer {key}"} if key else {})}
    return httpx.AsyncClient(
        transport=transport,
        headers=headers,
        limits=LIMITS,
        timeout=WITHOUT,
        trust_env=False,
    )


async def scrape(
    client: httpx.AsyncClient,
    url: str,
    *,
    timeout_seconds: float,
    prefix: str = PREFIX,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Ask once. Whatever goes wrong becomes the error of the answer.

    ``scraped_at`` is halfway between the question and the first byte of the answer: a server tells the state
    of some moment in between.
    """
    asked, begun = now(), clock()
    heard: list[float] = []
    samples, error = [], ""
    try:
        async with asyncio.timeout(timeout_seconds):
            page = await _page(client, url, lambda: heard.append(clock()))
        samples = samples_in(page, prefix)
    except TimeoutError:
        error = f"no whole answer within {timeout_seconds:g} s"
    except EndpointError as fault:
        error = fault.what
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as fault:
        error = f"{type(fault).__name__}: {fault}"
    ended = clock()
    middle = ((heard[0] if heard else ended) - begun) / 2
    return Answer(asked + timedelta(seconds=middle), (ended - begun) * 1000, samples, _printable(error))


async def _page(client: httpx.AsyncClient, url: str, heard: Callable[[], None]) -> str:
    async with client.stream("GET", url) as response:
        heard()
        if response.status_code != 200:
            raise EndpointError(f"the server answers with status {response.status_code}")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise EndpointError("the server answers in an encoding that was not asked for")
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_PAGE_BYTES:
                raise EndpointError(f"the page is larger than {MAX_PAGE_BYTES // 1_000_000} MB")
    return body.decode("utf-8", "replace")


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)[:MAX_SAID]


def bearer(variable: str | None, environment: Mapping[str, str]) -> str:
    """The key in the environment variable; empty where none is named.

    Raises:
        UsageError: it is not set, or holds what no key can be; the value is never shown.
        ConfigurationError: ``variable`` is no name.
    """
    if variable:
        require_variable_name(variable)
    key = environment.get(variable, "").strip() if variable else ""
    if variable and not (key and key.isascii() and key.isprintable()):
        raise UsageError(f"the environment variable {variable} holds no key", remedy=f"export {variable}=...")
    return key
