"""Staging: load stages one after the other, so that no two loads ever overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from runner.endpoint.ask import Ask
from runner.endpoint.client import StreamClient, Transport
from runner.endpoint.garbage import without_collection
from runner.endpoint.loops import event_loop_named
from runner.endpoint.recording import Entry, skipped_record, trial_record
from runner.endpoint.shapes.playing import Done, StageMeans, Unit, play_stage
from runner.endpoint.statistics.outcomes import GIVEN_UP
from runner.endpoint.worker_words import Opening
from runner.endpoint.workers import Workers
from runner.engine.bench.arranging import streams_of, workers_at
from runner.engine.bench.ledger import counts
from runner.engine.bench.live import LiveTarget, Means
from runner.engine.bench.order import slot_of
from runner.engine.bench.pace import Pace, StageClock
from runner.engine.bench.searching import search
from runner.records.bench_manifest import LoadStage
from runner.records.bench_trial import BenchTrial, LoadPlace
from runner.records.nouns import counted

OPEN_SLOTS = 256
MANY, TENTHS = 20, 10
"""From so many requests on, a stage tells each tenth of its way."""
"""Connections of an open loop; who would need more waits, and the wait is in its latency from schedule."""

Note = Callable[[str], None]
Hooks = tuple[Callable[[], str], Callable[[Done], None], Callable[[Unit, int], None], Callable[[], None]]
"""Why a stage is to end, who takes what is over and what was given up in flight, and what is told when the
first request may be sent."""


async def run_stages(means: Means, done: Sequence[BenchTrial], add: Note) -> None:
    """Every stage of the plan that is not complete, in its order."""
    earlier: dict[str, list[BenchTrial]] = defaultdict(list)
    budget = means.manifest.settings.load_budget_seconds
    staging = Staging(means, earlier, add, Pace(means.manifest), budget)
    for trial in done:
        staging.pace.see(trial)
        if trial.load is not None:
            earlier[trial.load.stage].append(trial)
    for stage in means.manifest.stages:
        if means.stop.no_more.is_set():
            return
        if stage.adaptive:
            await search(replace(staging, most_seconds=staging.share_of_search()), stage)
        else:
            await staging.play(stage, staging.units_of(stage))
        staging.pace.over.add(stage.key)


@dataclass(frozen=True)
class Staging:
    """Load stages at work.

    Args:
        pace: how long stages take, by what was seen of them.
        most_seconds: seconds of load in this sitting after which a stage ends; None: no limit.
    """

    means: Means
    earlier: Mapping[str, Sequence[BenchTrial]]
    add: Note
    pace: Pace
    most_seconds: float | None = None

    def share_of_search(self) -> float | None:
        """Where the next search ends: searches share evenly what is left, or the first one takes it all."""
        if self.most_seconds is None:
            return None
        so_far = self.means.spending.load_seconds
        left = [
            each for each in self.means.manifest.stages if each.adaptive and each.key not in self.pace.over
        ]
        return so_far + max(0.0, self.most_seconds - so_far) / max(1, len(left))

    def units_of(self, stage: LoadStage) -> list[Unit]:
        """The planned requests of a stage."""
        planned = [each for each in self.means.manifest.planned if each.stage == stage.key]
        offsets = stage.send_offsets_ms
        return [
            Unit(
                entry.key,
                number,
                self.means.cases[entry.case],
                slot_of(entry.slot),
                offsets[number] if offsets else None,
            )
            for number, entry in enumerate(planned)
        ]

    async def play(self, stage: LoadStage, units: Sequence[Unit]) -> list[BenchTrial]:
        """Make what is missing of a stage; all its trials, those of earlier sittings too."""
        means, before = self.means, list(self.earlier[stage.key])
        over = {trial.key for trial in before}
        todo = [unit for unit in units if unit.key not in over]
        live = means.targets[stage.target]
        if not todo or means.stop.no_more.is_set() or live.breaker.reason is not None:
            return before
        sitting = max((t.load.sitting for t in before if t.load is not None), default=0) + 1
        made, sent = list(before), set[str]()
        clock = StageClock(means.spending, self.pace, stage, self.most_seconds)

        def stopped() -> str:
            """Why no further unit begins; empty while none says so."""
            if means.stop.no_more.is_set():
                return "interrupted"
            if live.breaker.reason is not None:
                return live.breaker.reason
            return means.spending.money_reason(live.name) or clock.reason()

        def over_with(unit_done: Done) -> None:
            """Record a unit that is over, if it counts."""
            record = _record(means, live, unit_done)
            if counts(record):
                sent.add(record.key)
                made.append(record)
                means.spending.add(record)
                self.pace.see(record)
                means.writer.begin(record)
                if len(todo) >= MANY and len(sent) % step == 0:
                    means.note(f"  {words}: {len(sent)} of {len(todo)} over")

        def cut(unit: Unit, requests: int) -> None:
            """Record that a unit was given up, if anything of it had been sent."""
            if requests:
                means.writer.begin(self._without_result(unit, stage, sitting, live, GIVEN_UP, requests))

        words = f"load at {live.name}, {stage.group} {stage.level:g}"
        means.note(f"{words}: {len(todo)} of {counted(len(units), 'request')} to send")
        step = -(-len(todo) // TENTHS)
        reason = clock.reason_not_to_begin(means.note)
        if not reason:
            reason = await self._played(stage, todo, sitting, live, (stopped, over_with, cut, clock.start))
        clock.stop()
        await means.writer.flush()
        if reason and reason not in {"interrupted", live.breaker.reason}:
            self.add(f"{live.name}: {reason}")
            left = [unit for unit in todo if unit.key not in sent]
            await self._skip(left, stage, sitting, live, reason)
        return made

    async def _played(
        self, stage: LoadStage, todo: Sequence[Unit], sitting: int, live: LiveTarget, hooks: Hooks
    ) -> str:
        stopped, over, cut, begin = hooks
        reason = stopped()
        if reason:
            return reason
        slots = max(1, int(stage.level) if stage.closed_loop else min(OPEN_SLOTS, len(todo)))
        async with AsyncExitStack() as stack:
            # Before any client is there: a collection must not look like a lag of its loop.
            stack.enter_context(without_collection())
            asks = await self._asks(
                stack, live, slots, min(slots, workers_at(self.means.manifest, streams_of(stage)))
            )
            begin()
            noting, manner = self.means.flight.noting, self.means.manner()
            how = StageMeans(asks, live.target, manner, stopped, over, cut, noting)
            return await play_stage(stage, todo, sitting, how)

    async def _asks(
        self, stack: AsyncExitStack, live: LiveTarget, slots: int, workers: int
    ) -> tuple[Ask, ...]:
        """Who asks: a client in this process, or several processes with a share of the slots each."""
        transport: Transport = "httpx" if self.means.manifest.settings.transport == "httpx" else "asyncio"
        # A pause after a 429 would turn an open loop into a closed one.
        pace_seconds = 0.0
        if workers > 1:
            loop = event_loop_named(self.means.manifest.host.event_loop)
            opening = Opening(live.address, -(-slots // workers), transport, loop, pace_seconds)
            return await stack.enter_async_context(Workers(opening, workers, live.breaker))
        client = StreamClient(
            live.address, slots=slots, transport=transport, breaker=live.breaker, pace_seconds=pace_seconds
        )
        return (await stack.enter_async_context(client),)

    async def _skip(
        self, units: Sequence[Unit], stage: LoadStage, sitting: int, live: LiveTarget, reason: str
    ) -> None:
        for unit in units:
            await self.means.writer.write(self._without_result(unit, stage, sitting, live, reason))

    def _without_result(
        self, unit: Unit, stage: LoadStage, sitting: int, live: LiveTarget, reason: str, cut: int = 0
    ) -> BenchTrial:
        now, manifest = datetime.now(UTC), self.means.manifest
        place = LoadPlace(
            stage=stage.key,
            level=stage.level,
            number=unit.number,
            sitting=sitting,
            warm_up=unit.slot.warm_up,
        )
        entry = Entry(manifest.run_id, unit.key, live.name, now, now, live.price, place)
        seed = unit.case.seed(manifest.settings.seed, unit.slot)
        return skipped_record(unit.case, unit.slot, seed, entry, reason, cut=cut)


def _record(means: Means, live: LiveTarget, done: Done) -> BenchTrial:
    entry = Entry(
        run_id=means.manifest.run_id,
        key=done.unit.key,
        target=live.name,
        started_at=done.started_at,
        finished_at=done.finished_at,
        price=live.price,
        load=done.place,
        epoch_ns=done.epoch_ns,
    )
    return trial_record(done.played, entry, means.keeping)
