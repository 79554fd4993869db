"""Worker words: what a process that asks and the one it asks for say to each other."""

from __future__ import annotations

import asyncio
import pickle
import struct
from dataclasses import dataclass

from runner.endpoint.address import EndpointAddress
from runner.endpoint.client import Transport
from runner.endpoint.exchange import Exchange
from runner.endpoint.loops import LoopName
from runner.endpoint.request import AskRequest
from runner.errors import HarnessmarkError

LENGTH = struct.Struct(">I")


@dataclass(frozen=True)
class Opening:
    """The first word to a worker. It goes through a pipe: the key in it is in no argument and no file."""

    address: EndpointAddress
    slots: int
    transport: Transport = "asyncio"
    loop: LoopName = "asyncio"
    pace_seconds: float = 0.0


@dataclass(frozen=True)
class Asked:
    """A request to send. What comes of it has the same number."""

    number: int
    request: AskRequest


@dataclass(frozen=True)
class GivenUp:
    """Nobody waits for the request any more."""

    number: int


@dataclass(frozen=True)
class Shut:
    """A circuit was opened: nothing more is to be sent."""

    reason: str


@dataclass(frozen=True)
class End:
    """Nothing more will be asked."""


@dataclass(frozen=True)
class Ready:
    """The worker can be asked."""


@dataclass(frozen=True)
class Came:
    """What came of a request, or why it could not be sent; the request itself does not go back."""

    number: int
    exchange: Exchange | None
    fault: HarnessmarkError | None = None


@dataclass(frozen=True)
class Ended:
    """What a worker took: seconds of CPU from the first request on, and the largest lag of its loop."""

    cpu_seconds: float
    largest_lag_ms: float | None


Word = Opening | Asked | GivenUp | Shut | End | Ready | Came | Ended


def framed(word: Word) -> bytes:
    """A word as bytes: their number, then the bytes."""
    data = pickle.dumps(word, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


async def heard(reader: asyncio.StreamReader) -> Word | None:
    """The next word; None where the other side is gone."""
    try:
        (size,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        return unframed(await reader.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def unframed(data: bytes) -> Word:
    """The word in ``data``, without the number before it. Only words of our own processes are ever read."""
    word: Word = pickle.loads(data)  # noqa: S301 - from our own other process
    return word
