"""Journal: what a runner is doing right now, in a small file that a status can be read from."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from runner.engine.processes import Process, is_alive
from runner.records import Part
from runner.records.base import Moment

BEAT_SECONDS = 5.0
LOOK_SECONDS = 0.25
Stopping = Literal["", "no more", "now"]
Phase = Literal["pre-flight", "calibrating", "running", "switching", "judging", "ended"]
"""The first two are those of a benchmark before its first trial."""


class AtWork(Part):
    """A trial in flight."""

    position: int
    since: Moment
    sign: Moment
    """When something was last heard of it: output, model traffic, its start."""
    agent: Literal["waiting", "at work", "done"] = "waiting"
    """``waiting``: it is made ready, or waits for its turn. ``done``: what it left is graded."""
    agent_since: Moment | None = None


class FailedBlock(Part):
    """Models that could not be served."""

    key: str
    models: tuple[str, ...]
    reason: str


class RunState(Part):
    """What a runner says of itself. It says nothing of finished trials: the store does."""

    plan_id: str
    pid: int
    started: int | None
    """Tells the process from a later one with its number; None where the system does not say it."""
    begun_at: Moment
    heartbeat: Moment
    phase: Phase = "running"
    model: str | None = None
    """What is being served, or switched to."""
    stopping: Stopping = ""
    running: tuple[AtWork, ...] = ()
    failed: tuple[FailedBlock, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why trials do not start."""
    judging: int = 0
    """Finished trials that wait for their judgement."""
    not_judged: dict[str, str] = Field(default_factory=dict)
    worked_seconds: float = 0.0
    """How long runners were at work on the plan, until the last heartbeat."""
    ended_at: Moment | None = None
    exit_code: int | None = None
    failure: str | None = None
    log: str | None = None
    concurrency: int = 1

    @property
    def writer(self) -> Process | None:
        """The process that wrote this."""
        return None if self.started is None else Process(self.pid, self.started)


def read_state(path: Path) -> RunState | None:
    """The state at ``path``; None where there is none, or none that can be read."""
    try:
        return RunState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def writer_is_alive(state: RunState) -> bool:
    """Whether the process that wrote ``state`` may be alive: it is, or the system does not say."""
    return state.writer is None or is_alive(state.writer)


class Journal:
    """Writes the state of one runner: at every event, and every few seconds as a sign of life.

    Args:
        path: the file; replaced whole, so that a reader never sees half of it.
        first: how it begins.
        seconds: how long runners were at work on the plan by now.
        stopping: what the user wants; asked again and again, as a signal handler cannot wait for our lock.
        now: the time.
        mask: takes secrets out of what a failure says.
    """

    def __init__(
        self,
        path: Path,
        first: RunState,
        *,
        seconds: Callable[[], float] = lambda: 0.0,
        stopping: Callable[[], Stopping] = lambda: "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        mask: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._mask = mask
        self._path, self._state, self._seconds, self._now = path, first, seconds, now
        self._stopping = stopping
        self._signs: dict[int, Moment] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Journal:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self.say()
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._state.ended_at is None:
            words = self._mask(" ".join(str(error).split()))[:500] or type(error).__name__
            self.end(exit_code=None, failure=words)

    @property
    def state(self) -> RunState:
        """What was written last."""
        return self._state

    def say(self, **news: object) -> None:
        """Write the state with ``news`` in place of what it was."""
        with self._lock:
            self._write(news)

    def begins(self, position: int) -> None:
        """A trial is taken up."""
        with self._lock:
            now = self._signs[position] = self._now()
            entry = AtWork(position=position, since=now, sign=now)
            self._write({"running": (*self._state.running, entry)})

    def agent(self, position: int, state: Literal["at work", "done"]) -> None:
        """An agent begins or ends to work on a trial."""
        with self._lock:
            now = self._signs[position] = self._now()
            changed = tuple(
                each.model_copy(update={"agent": state, "agent_since": now if state == "at work" else None})
                if each.position == position
                else each
                for each in self._state.running
            )
            self._write({"running": changed})

    def leaves(self, position: int) -> None:
        """A trial is no longer in flight: written, held or left."""
        with self._lock:
            self._signs.pop(position, None)
            kept = tuple(each for each in self._state.running if each.position != position)
            self._write({"running": kept})

    def sign(self, position: int) -> None:
        """Something was heard of a trial; written with the next heartbeat."""
        self._signs[position] = self._now()

    def add_reason(self, reason: str) -> None:
        """Why trials do not start."""
        if reason not in self._state.reasons:
            self.say(reasons=(*self._state.reasons, reason))

    def end(self, *, exit_code: int | None, failure: str | None = None) -> None:
        """The runner is done; nothing is written after this."""
        with self._lock:
            self._write(
                {"phase": "ended", "running": (), "ended_at": self._now(), "exit_code": exit_code}
                | {"failure": failure, "model": None}
            )
        self._ended.set()

    def _beat(self) -> None:
        waited = 0.0
        while not self._ended.wait(LOOK_SECONDS):
            waited += LOOK_SECONDS
            if waited >= BEAT_SECONDS or self._stopping() != self._state.stopping:
                waited = 0.0
                self.say()

    def _write(self, news: dict[str, object]) -> None:
        if self._state.ended_at is not None:
            return
        changed = self._state.model_copy(update=news)
        running = tuple(
            each.model_copy(update={"sign": self._signs.get(each.position, each.sign)})
            for each in changed.running
        )
        self._state = changed.model_copy(
            update={
                "running": running,
                "stopping": self._stopping(),
                "heartbeat": self._now(),
                "worked_seconds": round(self._seconds(), 3),
            }
        )
        # Advisory: a full disk stops the run elsewhere, and is told there.
        with contextlib.suppress(OSError):
            partial = self._path.with_name(f".{self._path.name}.partial")
            partial.write_bytes(self._state.model_dump_json().encode())
            os.replace(partial, self._path)  # noqa: PTH105 - the name says that it replaces
