"""Exchange: one request and its response as they crossed the network, stamped and not yet understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from runner.endpoint.framing import Head
from runner.endpoint.request import AskRequest
from runner.endpoint.result import Failure, Outcome


@dataclass(frozen=True)
class Bounds:
    """How much of a response is taken in before it is given up; bytes."""

    body: int = 64 * 1024 * 1024
    event: int = 8 * 1024 * 1024


@dataclass(slots=True)
class Stamps:
    """Moments that the transport sees, in nanoseconds of ``time.perf_counter_ns``."""

    scheduled: int | None = None
    released: int | None = None
    connect_begun: int | None = None
    connected: int | None = None
    secured: int | None = None
    sent: int | None = None
    written: int | None = None
    first_byte: int | None = None
    headers: int | None = None
    ended: int | None = None


@dataclass(frozen=True)
class Broken:
    """How an exchange failed before its response was complete."""

    outcome: Outcome
    failure: Failure


@dataclass(slots=True)
class Exchange:
    """``pieces[i]`` is what network read ``i`` held of the body; it came at ``piece_stamps[i]``."""

    request: AskRequest
    started_at: datetime
    stamps: Stamps = field(default_factory=Stamps)
    head: Head | None = None
    pieces: list[bytes] = field(default_factory=list)
    piece_stamps: list[int] = field(default_factory=list)
    complete: bool = False
    """Whether the response ended as HTTP says."""
    broken: Broken | None = None
    reused: bool | None = None
    bytes_sent: int = 0
    bytes_received: int = 0
    reads: int = 0
    transport: str = "asyncio"
    loop_lag_ms: float | None = None
    paced_ns: int = 0
    """How long it was held back because the server had asked for a pause."""
