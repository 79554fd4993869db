"""Asking: one request to a server before a run, with the cause in words where nothing usable comes back."""

from __future__ import annotations

import errno
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from runner.errors import EndpointError

SECONDS = 10.0
"""For all requests of one pre-flight to one server together."""
MAX_BYTES = 5_000_000
SAID_LENGTH = 160
NOT_REACHABLE = frozenset({errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
AGAIN = "start the server, or correct its address with --endpoint"


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    body: object
    """The JSON of the answer; None where it is none."""
    location: str = ""
    """Where the server sends the client instead."""

    @property
    def said(self) -> str:
        """The server's own words on what is wrong, on one printable line; empty where there are none."""
        body = self.body
        for _ in range(3):
            if not isinstance(body, dict):
                break
            body = next((body[key] for key in ("error", "message", "detail", "msg") if key in body), None)
        return printable(body) if isinstance(body, str) else ""


@dataclass
class Asker:
    """Sends requests to one server within one span of time, which begins when it is entered.

    A redirect is not followed.

    Args:
        headers: credentials and versions to send.
        transport: carries the requests; None for the real network.
        seconds: for all of them together.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: httpx.BaseTransport | None = field(default=None, repr=False)
    seconds: float = SECONDS
    clock: Callable[[], float] = time.monotonic
    _ends: float = field(default=0.0, init=False, repr=False)
    _client: httpx.Client | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Asker:
        self._ends = self.clock() + self.seconds
        self._client = httpx.Client(transport=self.transport or httpx.HTTPTransport(), trust_env=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    def get(self, address: str) -> Reply:
        """What ``address`` answers.

        Raises:
            EndpointError: nothing usable comes back; the message names the cause, the remedy what to do.
        """
        return self._ask("GET", address, {}, None)

    def post(self, address: str, body: Mapping[str, object], headers: Mapping[str, str]) -> Reply:
        """What ``address`` answers to ``body``, with ``headers`` beside the asker's own.

        Raises:
            EndpointError: as :meth:`get`.
        """
        return self._ask("POST", address, headers, body)

    def _ask(
        self, method: str, address: str, headers: Mapping[str, str], body: Mapping[str, object] | None
    ) -> Reply:
        left = self._ends - self.clock()
        if left <= 0 or self._client is None:
            raise _silent(address, self.seconds)
        sent = {"Accept": "application/json", "Accept-Encoding": "identity", **self.headers, **headers}
        try:
            with self._client.stream(method, address, headers=sent, json=body, timeout=left) as response:
                data = self._read(response, address)
                return Reply(response.status_code, data, printable(response.headers.get("location", "")))
        except httpx.TimeoutException:
            raise _silent(address, self.seconds) from None
        except httpx.HTTPError as error:
            raise explained(error, address) from None

    def _read(self, response: httpx.Response, address: str) -> object:
        data = b""
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > MAX_BYTES:
                raise EndpointError(
                    f"it answers with more than {MAX_BYTES // 1_000_000} MB, which no API does here",
                    where=address,
                    remedy="correct the address with --endpoint",
                )
            if self.clock() > self._ends:
                raise _silent(address, self.seconds)
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None


def explained(error: Exception, address: str) -> EndpointError:
    """The error in words: why there was no answer, and what to do about it."""
    parts = urlsplit(address)
    host = printable(parts.netloc)
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = printable(cause.verify_message)
            return EndpointError(
                f"the certificate of {host} is not trusted: {why}",
                where=address,
                remedy="export SSL_CERT_FILE=/path/to/the/authority.pem",
            )
        if isinstance(cause, ssl.SSLError):
            plain = parts._replace(scheme="http", query="", fragment="").geturl()
            return EndpointError(
                f"{host} does not speak TLS",
                where=address,
                remedy=f"if that is meant: --endpoint {plain}",
            )
        if isinstance(cause, socket.gaierror):
            return EndpointError(
                f"the host {printable(parts.hostname or '')} is unknown",
                where=address,
                remedy="correct the address with --endpoint, or check the network",
            )
        if isinstance(cause, ConnectionRefusedError):
            return EndpointError(f"nothing listens at {host}", where=address, remedy=AGAIN)
        if isinstance(cause, OSError) and cause.errno in NOT_REACHABLE:
            return EndpointError(f"no way leads to {host}", where=address, remedy="check the network")
    said = printable(str(error)) or type(error).__name__
    if isinstance(error, httpx.ConnectError):
        what = f"no connection to {host} ({said})"
    elif isinstance(error, httpx.RemoteProtocolError | httpx.DecodingError):
        what = f"what answers at {host} is no HTTP server ({said})"
    else:
        what = f"{host} broke off ({said})"
    return EndpointError(what, where=address, remedy=AGAIN)


def printable(text: str, limit: int = SAID_LENGTH) -> str:
    """``text`` of a stranger on one line of printable characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in " ".join(text[: 4 * limit].split()))
    return line if len(line) <= limit else line[:limit] + "..."


def _silent(address: str, seconds: float) -> EndpointError:
    return EndpointError(
        f"{printable(urlsplit(address).netloc)} gave no answer within {seconds:g} seconds",
        where=address,
        remedy="look whether the server is still loading or overloaded, then: invoke preflight",
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__
