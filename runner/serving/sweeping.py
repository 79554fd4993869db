"""Sweeping: one concurrency level after the other, each from idle to its own end, kept once it is whole."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from runner.errors import EndpointError
from runner.records import Level, LoadSession, Workload
from runner.records.nouns import counted
from runner.serving.asked import Asked
from runner.serving.control import log_of
from runner.serving.idle import Business, wait_until_idle
from runner.serving.level import LevelWindow, level_of
from runner.serving.readings import open_readings
from runner.serving.spool import OK, read_spool, spool_of

TELL_SECONDS = 30.0
LOOK_SECONDS = 0.25
LATE_SECONDS = 30.0
"""How long after a level's end the first scrape behind it may come."""


class Load(Protocol):
    """What keeps the server busy."""

    workload: Workload

    def warm_up(self) -> None:
        """Something short before the first level, so that nothing is done for the first time within it.

        Raises:
            EndpointError: the model does not answer.
        """

    def begin(self, concurrency: int, seconds: float) -> None:
        """Keep so many sessions at work; a level of ``seconds`` begins now."""

    def end(self) -> tuple[LoadSession, ...]:
        """Cut off whoever is still at work; every session since :meth:`begin`."""

    def asked(self) -> Asked | None:
        """What the requests since :meth:`begin` wanted; None where the load cannot know."""


class LevelKeeper(Protocol):
    """Where finished levels are kept."""

    def finished(self) -> dict[int, Level]:
        """Those that are, by concurrency."""

    def keep(self, level: Level) -> None:
        """Keep one more, on disk before this returns."""


class Interrupted(Exception):
    """Somebody asked the sweep to stop; every finished level is kept."""


class LevelFailed(Exception):
    """A level is no measurement and is not kept, as the text says; every finished level is."""


@dataclass(frozen=True)
class Sweeping:
    """Everything a sweep needs while it runs.

    ``database`` belongs to a collector that is at work; ``look`` asks the server what it has to do.
    """

    model: str
    levels: Sequence[int]
    window_seconds: float
    interval_seconds: float
    idle_limit_seconds: float
    load: Load
    database: Path
    look: Callable[[], Business]
    keeper: LevelKeeper
    stop: threading.Event
    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    look_seconds: float = 1.0
    """From one look at the server to the next while it is to become idle."""
    late_seconds: float = LATE_SECONDS

    def run(self) -> list[Level]:
        """Measure each level that is not kept yet; all of them in the order of concurrency.

        Raises:
            EndpointError: the server does not become idle, does not answer, or its metrics cannot be read.
            Interrupted: it was stopped.
            LevelFailed: no session of a level succeeded, or the metrics of it were not read to its end.
        """
        left = [each for each in self.levels if each not in self.keeper.finished()]
        for each in sorted(set(self.levels) - set(left)):
            self.say(f"level {each} is measured already")
        if left:
            self._become_idle()
            self.load.warm_up()
        for concurrency in left:
            self._become_idle()
            level = self._measure(concurrency)
            self.keeper.keep(level)
            self.say(level_line(level))
            for warning in level.warnings:
                self.say(f"  {warning.code}: {warning.text}")
        if left:
            self._become_idle()
        return sorted(self.keeper.finished().values(), key=lambda each: each.concurrency)

    def _become_idle(self) -> None:
        waited = wait_until_idle(
            self.look,
            limit_seconds=self.idle_limit_seconds,
            stop=self.stop,
            say=self.say,
            clock=self.clock,
            look_seconds=self.look_seconds,
        )
        self._heed()
        if waited > TELL_SECONDS:
            self.say(f"the server was idle after {waited:.0f} s")

    def _measure(self, concurrency: int) -> Level:
        self.say(f"level {concurrency}: {counted(concurrency, 'session')} for {self.window_seconds:g} s")
        started_at = self.now()
        self.load.begin(concurrency, self.window_seconds)
        sessions: tuple[LoadSession, ...] = ()
        try:
            self._pass_time(concurrency)
            ended_at = self.now()
            # The load goes on until a scrape beyond the end: counters grow evenly between both around it.
            self._await_scrape(concurrency, ended_at)
        finally:
            sessions = self.load.end()
        self._heed()
        window = LevelWindow(
            concurrency,
            started_at,
            ended_at,
            self.interval_seconds,
            _within(sessions, ended_at),
            from_idle=True,
            asked=self.load.asked(),
        )
        with open_readings(self.database) as readings:
            try:
                level = level_of(readings, self.model, window)
            except EndpointError as error:
                raise LevelFailed(f"level {concurrency} failed: {error.what}") from None
        if (why := failure_of(level)) is not None:
            raise LevelFailed(f"level {concurrency} failed: {why}")
        return level

    def _pass_time(self, concurrency: int) -> None:
        begun = told = self.clock()
        while (left := self.window_seconds - (self.clock() - begun)) > 0:
            self.stop.wait(min(left, LOOK_SECONDS))
            self._heed()
            if self.clock() - told >= TELL_SECONDS:
                told = self.clock()
                self.say(f"level {concurrency}: {left:.0f} s to go")

    def _await_scrape(self, concurrency: int, moment: datetime) -> None:
        begun = self.clock()
        # The spool is enough: a scrape is there at once, and stays for minutes.
        while not any(
            each.status == OK and each.scraped_at >= moment
            for each in reversed(read_spool(spool_of(self.database)).scrapes)
        ):
            if self.clock() - begun > self.late_seconds + 3 * self.interval_seconds:
                raise LevelFailed(
                    f"level {concurrency} failed: the server's metrics were not read any more at its end "
                    f"(see {log_of(self.database).name} in the folder of the sweep)"
                )
            self.stop.wait(min(self.interval_seconds / 4, LOOK_SECONDS))
            self._heed()

    def _heed(self) -> None:
        if self.stop.is_set():
            raise Interrupted


def _within(sessions: Sequence[LoadSession], ended_at: datetime) -> tuple[LoadSession, ...]:
    """The sessions that began within the level; one that ended after it was cut off at its end."""
    kept = []
    for each in sessions:
        if each.started_at >= ended_at:
            continue
        if each.ended_at > ended_at:
            each = each.model_copy(update={"status": "cutoff", "ended_at": ended_at, "error": None})
        kept.append(each)
    return tuple(kept)


def failure_of(level: Level) -> str | None:
    """Why a level is no measurement: none of its sessions succeeded; None where one did.

    One that was cut off by the level's end succeeded where it had an answer, or one was on its way: then
    output flowed and no other session failed.
    """
    failed = [each for each in level.sessions if each.status == "error"]
    flows = bool(level.output_tokens_per_second) and not failed
    if any(
        each.status == "ok" or (each.status == "cutoff" and (each.turns != 0 or flows))
        for each in level.sessions
    ):
        return None
    if not level.sessions:
        return "no session of the load began"
    first = f", first: {failed[0].error or 'no reason given'}" if failed else ""
    return f"none of {len(level.sessions)} sessions was answered{first}"


def level_line(level: Level) -> str:
    """A level in one line."""
    waiting = level.requests_waiting.mean if level.requests_waiting else None
    return (
        f"level {level.concurrency}: prompt {_shown(level.prompt_tokens_per_second)} tok/s, "
        f"output {_shown(level.output_tokens_per_second)} tok/s, "
        f"on average first token {_shown(level.ttft_ms_mean)} ms, queue {_shown(level.queue_ms_mean)} ms, "
        f"{_shown(waiting)} waiting; {_requests(level)} in {counted(len(level.sessions), 'session')}"
    )


def _requests(level: Level) -> str:
    """How many requests the averages are of."""
    return (
        "an unknown number of requests"
        if (well := level.successful_requests) is None
        else counted(well, "request")
    )


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.1f}"
