"""Playing a stage: sends what was planned, when it was planned, and hands over each trial as it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from runner.endpoint.ask import Ask, Counted, Note, no_note
from runner.endpoint.request import AskRequest
from runner.endpoint.result import StreamResult
from runner.endpoint.suites.asking import Manner
from runner.endpoint.suites.case import Case, Slot
from runner.endpoint.suites.playing import Played, play
from runner.endpoint.target import Target
from runner.endpoint.timing import between
from runner.records.bench_manifest import LoadStage
from runner.records.bench_trial import LoadPlace

NS_PER_MS = 1_000_000
LEAD_SECONDS = 0.05
"""From the beginning of a stage to its first planned send: time to make ready."""


@dataclass(frozen=True)
class Unit:
    """One request, or session, of a stage that is still to be made."""

    key: str
    number: int
    case: Case
    slot: Slot
    offset_ms: float | None = None
    """Planned send time from the stage's beginning; None in a closed loop."""


@dataclass(frozen=True)
class Done:
    """A unit that ended, with the stage's beginning on the clock of its milestones."""

    unit: Unit
    played: Played
    place: LoadPlace
    epoch_ns: int
    started_at: datetime
    finished_at: datetime


@dataclass(frozen=True)
class StageMeans:
    """What a stage is played with.

    Args:
        asks: who asks: one client, or several processes that take turns. In a closed loop each place keeps
            to its own; planned requests are dealt out in their order.
        stopped: why nothing more is to be sent; empty while there is nothing against it. Looked at before
            each request of a closed loop and at each planned send time.
        over: takes each unit as it ends. It must not wait: others are being measured.
        cut: takes each unit that is given up, with how many requests of it had been sent.
        noting: what takes word of each request of a unit, by its key, before it is sent.
    """

    asks: tuple[Ask, ...]
    target: Target
    manner: Manner
    stopped: Callable[[], str]
    over: Callable[[Done], None]
    cut: Callable[[Unit, int], None]
    noting: Callable[[str], Note] = lambda _key: no_note


async def play_stage(stage: LoadStage, units: Sequence[Unit], sitting: int, means: StageMeans) -> str:
    """Make every unit; why the stage was ended before its end, or an empty text."""
    manner = replace(means.manner, salt=f"{means.manner.salt}|{stage.key}")
    means = replace(means, manner=manner)
    epoch = time.perf_counter_ns() + int(LEAD_SECONDS * 1e9)
    if stage.closed_loop:
        return await _closed(stage, units, sitting, means, epoch)
    return await _open(stage, units, sitting, means, epoch)


async def _closed(
    stage: LoadStage, units: Sequence[Unit], sitting: int, means: StageMeans, epoch: int
) -> str:
    waiting = list(reversed(units))
    reasons: list[str] = []

    async def place(number: int) -> None:
        """One of the stage's slots: unit after unit until none waits or the stage is stopped."""
        while waiting:
            reason = means.stopped()
            if reason:
                reasons.append(reason)
                return
            await _make(stage, waiting.pop(), sitting, means, epoch, number)

    async with asyncio.TaskGroup() as group:
        for number in range(max(1, int(stage.level))):
            group.create_task(place(number))
    return reasons[0] if reasons else ""


async def _open(stage: LoadStage, units: Sequence[Unit], sitting: int, means: StageMeans, epoch: int) -> str:
    """Each unit has a task of its own that sleeps to an absolute time: lateness never adds up."""
    if not units:
        return ""
    # A stage that goes on after an interruption does not wait through what was sent before it.
    shift = units[0].offset_ms or 0.0
    reasons: list[str] = []

    async def at_its_time(unit: Unit, number: int) -> None:
        """Sleep until the unit is due, then make it."""
        due = epoch + int(((unit.offset_ms or 0.0) - shift) * NS_PER_MS)
        wait = (due - time.perf_counter_ns()) / 1e9 - LEAD_SECONDS
        if wait > 0:
            await asyncio.sleep(wait)
        reason = means.stopped()
        if reason:
            reasons.append(reason)
            return
        await _make(stage, unit, sitting, means, epoch, number, due)

    async with asyncio.TaskGroup() as group:
        for number, unit in enumerate(units):
            group.create_task(at_its_time(unit, number))
    return reasons[0] if reasons else ""


async def _make(
    stage: LoadStage,
    unit: Unit,
    sitting: int,
    means: StageMeans,
    epoch: int,
    turn: int,
    due: int | None = None,
) -> None:
    """Make one unit; ``turn`` says whose it is."""
    started, workers = datetime.now(UTC), len(means.asks)
    whose = turn % workers
    sends = means.asks[whose] if due is None else _Scheduled(means.asks[whose], due)
    ask = Counted(sends, means.noting(unit.key))
    try:
        played = await play(unit.case, unit.slot, ask, means.target, means.manner)
    except asyncio.CancelledError:
        means.cut(unit, ask.sent)
        raise
    first = played.results[0].milestones if played.results else None
    late = None if due is None or first is None else between(due, first.sent)
    place = LoadPlace(
        stage=stage.key,
        level=stage.level,
        number=unit.number,
        sitting=sitting,
        scheduled_ms=None if due is None else between(epoch, due),
        lateness_ms=None if late is None else round(max(late, 0.0), 3),
        warm_up=unit.slot.warm_up,
        worker=whose + 1 if workers > 1 else None,
        workers=workers,
    )
    means.over(Done(unit, played, place, epoch, started, datetime.now(UTC)))


class _Scheduled:
    """An ask whose first request has a planned send time."""

    def __init__(self, ask: Ask, due_ns: int) -> None:
        self._ask = ask
        self._due: int | None = due_ns

    async def __call__(self, request: AskRequest) -> StreamResult:
        due, self._due = self._due, None
        planned = request if due is None else request.model_copy(update={"scheduled_ns": due})
        return await self._ask(planned)
