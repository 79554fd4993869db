"""EndpointAddress: where a model answers, and a request as the bytes that are sent there."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import h11
import httpx

from runner.endpoint.protocols.messages import VERSION
from runner.endpoint.protocols.registry import DIALECTS
from runner.endpoint.request import AskRequest, Protocol
from runner.errors import ConfigurationError

DEFAULT_PORTS = {"http": 80, "https": 443}
NOT_TO_BE_SET = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})


@dataclass(frozen=True)
class EndpointAddress:
    """Where requests go.

    ``base_url`` ends where the protocol's own paths begin: with ``/v1`` for Chat Completions and Responses,
    without for Messages. ``api_key`` never appears in ``repr``, results or messages. ``headers`` go with
    every request. ``authority`` is a file of certificates to trust instead of the usual ones.
    """

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    authority: Path | None = None

    def url(self) -> httpx.URL:
        """The base address, taken apart.

        Raises:
            ConfigurationError: it is no http or https address.
        """
        try:
            url = httpx.URL(self.base_url)
        except (httpx.InvalidURL, TypeError, ValueError):
            url = httpx.URL("")
        if url.scheme not in DEFAULT_PORTS or not url.host or url.userinfo:
            raise ConfigurationError(
                "not an address of an endpoint",
                where=self.base_url[:200] if not url.userinfo else "(an address with a password in it)",
                remedy="write it as in https://api.example.org/v1; the key goes into an environment variable",
            )
        return url

    @property
    def host(self) -> str:
        """Name or number of the machine."""
        return self.url().host

    @property
    def port(self) -> int:
        """The port, also where the address does not name it."""
        return self.url().port or DEFAULT_PORTS[self.url().scheme]

    @property
    def local(self) -> bool:
        """Whether it is on this machine."""
        return self.host in {"localhost", "::1"} or self.host.startswith("127.")

    def tls(self) -> ssl.SSLContext | None:
        """A context to check the server's certificate with; None for plain HTTP.

        Raises:
            ConfigurationError: the file of certificates cannot be read.
        """
        if self.url().scheme != "https":
            return None
        try:
            context = (
                httpx.create_ssl_context(trust_env=False)
                if self.authority is None
                else ssl.create_default_context(cafile=str(self.authority))
            )
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(
                f"the certificates to trust cannot be read: {error}", where=str(self.authority)
            ) from None
        context.set_alpn_protocols(["http/1.1"])
        return context


def build(address: EndpointAddress, request: AskRequest) -> httpx.Request:
    """``request`` as an HTTP request: JSON body, key, and the headers of the address and of the request.

    A parameter that is None is taken out of the body. What comes back must not be compressed, or the times
    of its pieces would say when blocks of the compression ended.

    Raises:
        ConfigurationError: the address is none, or a header cannot be sent.
    """
    dialect = DIALECTS[request.protocol]
    body = {**dialect.body(request), **request.parameters}
    content = json.dumps(
        {key: value for key, value in body.items() if key not in request.parameters or value is not None},
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode("utf-8", "surrogatepass")
    url = address.url()
    headers = {
        "accept": "text/event-stream" if request.stream else "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": "harnessmark",
        **_credentials(address, request.protocol),
    }
    for name, value in {**address.headers, **request.headers}.items():
        if name.lower() in NOT_TO_BE_SET:
            raise ConfigurationError(f"the header {name!r} is set by the client itself")
        headers[name.lower()] = value
    try:
        return httpx.Request(
            "POST",
            url.copy_with(path=url.path.rstrip("/") + dialect.path),
            headers=headers,
            content=content,
        )
    except (UnicodeEncodeError, TypeError) as error:
        raise ConfigurationError(f"a header cannot be sent: {type(error).__name__}") from None


def serialise(request: httpx.Request) -> bytes:
    """The bytes of ``request`` in HTTP/1.1.

    Raises:
        ConfigurationError: a header holds what no header may; its value is not told.
    """
    connection = h11.Connection(h11.CLIENT)
    try:
        head = connection.send(
            h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        )
    except h11.LocalProtocolError:
        raise ConfigurationError(
            "a header of the request holds characters that no header may",
            where=", ".join(sorted(request.headers)),
        ) from None
    return (head or b"") + request.content


def _credentials(address: EndpointAddress, protocol: Protocol) -> dict[str, str]:
    if protocol is Protocol.MESSAGES:
        return {"anthropic-version": VERSION} | ({"x-api-key": address.api_key} if address.api_key else {})
    return {"authorization": f"Bearer {address.api_key}"} if address.api_key else {}
