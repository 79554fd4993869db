"""Carrier: what takes requests over the network, one at a time, and stamps what comes back."""

from __future__ import annotations

import socket
import ssl
from typing import Protocol

import httpx

from runner.endpoint.exchange import Broken, Exchange
from runner.endpoint.result import Failure, Outcome, Phase


class Carrier(Protocol):
    """One connection's worth of transport. Every failure is written into the exchange, never raised."""

    async def carry(self, exchange: Exchange, request: httpx.Request) -> None:
        """Send ``request`` and take in what comes, until it is complete or broken. Never sends twice."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


def connect_failure(error: Exception) -> Broken:
    """Why no connection came about: a code per cause."""
    if isinstance(error, ssl.SSLCertVerificationError):
        code = "certificate"
    elif isinstance(error, ssl.SSLError):
        code = "tls"
    elif isinstance(error, socket.gaierror):
        code = "name_not_found"
    elif isinstance(error, ConnectionRefusedError):
        code = "connection_refused"
    else:
        code = "connection_failed"
    return Broken(Outcome.CONNECT_ERROR, Failure(code=code, message=str(error)[:500], phase=Phase.CONNECT))


def connect_timeout(seconds: float | None, *, total: bool) -> Broken:
    """That the connection, or with it everything, took longer than it may."""
    outcome = Outcome.TIMEOUT_TOTAL if total else Outcome.TIMEOUT_CONNECT
    message = f"no connection within {seconds:g} s" if seconds is not None else ""
    return Broken(outcome, Failure(code=str(outcome), message=message, phase=Phase.CONNECT))
