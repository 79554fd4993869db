"""Collector: asks a server for its metrics at a fixed rate and keeps each answer, failed ones too."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from runner.errors import StoreError
from runner.records import Part
from runner.serving.database import Answer, CollectorDatabase
from runner.serving.exposition import PREFIX
from runner.serving.scrape import scrape

MAX_PENDING = 600
"""Answers that wait for a disk that cannot be written."""
SAY_AGAIN_SECONDS = 60.0
Say = Callable[[str], None]
Clock = Callable[[], float]


class CollectorSettings(Part):
    """What a collector is to do. Holds no secret: the key is in the environment variable that is named."""

    database: str
    metrics_url: str
    interval_seconds: float = 1.0
    duration_seconds: float = 0.0
    """0: until it is stopped."""
    timeout_seconds: float = 10.0
    session_name: str
    prefix: str = PREFIX
    api_key_env: str | None = None
    bound: bool = False
    """Whether it ends when its standard input is closed, with the process that started it."""


@dataclass
class RateLimited:
    """Says a kind of thing at most once a minute, and then how often it was not said."""

    say: Say
    clock: Clock = time.monotonic
    _said: dict[str, float] = field(default_factory=dict)
    _held: dict[str, int] = field(default_factory=dict)

    def __call__(self, kind: str, text: str) -> None:
        """Say ``text``, unless something of this ``kind`` was said less than a minute ago."""
        now = self.clock()
        if now - self._said.get(kind, -math.inf) < SAY_AGAIN_SECONDS:
            self._held[kind] = self._held.get(kind, 0) + 1
            return
        held = self._held.pop(kind, 0)
        self._said[kind] = now
        self.say(f"{text} ({held} more of this kind before)" if held else text)


@dataclass
class Collector:
    """One session of collecting.

    Args:
        settings: what to ask, how often, for how long.
        database: open for this process.
        client: carries the questions.
        say: gets lines for a log.
    """

    settings: CollectorSettings
    database: CollectorDatabase
    client: httpx.AsyncClient
    say: Say
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    clock: Clock = time.monotonic
    ok: int = 0
    failed: int = 0
    lost: int = 0
    _pending: deque[Answer] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._complain = RateLimited(self.say, self.clock)

    async def run(self) -> None:
        """Collect until the time is over or :attr:`stop` is set; the session is ended then.

        Raises:
            StoreError: the database cannot even be begun, or not be ended.
        """
        settings = self.settings
        self.database.begin(settings.session_name, _now(), settings.metrics_url, settings.interval_seconds)
        begun = self.clock()
        ends = begun + settings.duration_seconds if settings.duration_seconds else math.inf
        due = begun
        while not self.stop.is_set() and due < ends:
            await self._wait(due)
            if self.stop.is_set():
                break
            await self._once()
            due = next_due(begun, settings.interval_seconds, due, self.clock())
        if not math.isinf(ends):
            await self._wait(ends)
        self._store()
        self.database.end(_now())

    async def _once(self) -> None:
        """One scrape, kept and perhaps folded; given up when the collector is to stop."""
        asking = asyncio.ensure_future(
            scrape(
                self.client,
                self.settings.metrics_url,
                timeout_seconds=self.settings.timeout_seconds,
                prefix=self.settings.prefix,
            )
        )
        stopping = asyncio.ensure_future(self.stop.wait())
        await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not asking.done():
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
            return
        answer = asking.result()
        if answer.error:
            self.failed += 1
            self._complain("scrape", f"scrape failed: {answer.error}")
        else:
            self.ok += 1
        self._pending.append(answer)
        self._store()

    def _store(self) -> None:
        while len(self._pending) > MAX_PENDING:
            self._pending.popleft()
            self.lost += 1
        try:
            while self._pending:
                self.database.append(self._pending[0])
                self._pending.popleft()
            if self.database.wants_folding:
                self.database.fold()
        except StoreError as error:
            lost = f"; {self.lost} scrapes are lost" if self.lost else ""
            self._complain("store", f"{error.what}; {len(self._pending)} scrapes wait{lost}")

    async def _wait(self, until: float) -> None:
        seconds = until - self.clock()
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), seconds)


def next_due(begun: float, interval: float, due: float, now: float) -> float:
    """When the next scrape is due: the next multiple of ``interval`` after ``begun`` that is not past.

    One that took longer than the interval makes the schedule skip, never bunch up.
    """
    following = due + interval
    if following >= now:
        return following
    return begun + interval * math.ceil((now - begun) / interval)


def _now() -> datetime:
    return datetime.now(UTC)
