"""Running: works off a planned benchmark: trials in their order, then load stages one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from runner.endpoint.ask import Ask, Counted
from runner.endpoint.client import StreamClient
from runner.endpoint.recording import Entry, skipped_record, trial_record
from runner.endpoint.result import StreamResult
from runner.endpoint.statistics.money import request_cost
from runner.endpoint.statistics.outcomes import GIVEN_UP
from runner.endpoint.suites.coding.loop import AgentMeans, TaskLimits
from runner.endpoint.suites.playing import play
from runner.engine.bench.ledger import counts
from runner.engine.bench.live import LiveTarget, Means
from runner.engine.bench.order import slot_of
from runner.engine.bench.staging import run_stages
from runner.records.bench_manifest import BenchPrice, PlannedBench
from runner.records.bench_trial import BenchTrial

LOOK_SECONDS = 0.05


@dataclass
class Outcome:
    """How far a sitting came. ``reasons`` say why something was left; none where nothing was."""

    reasons: list[str] = field(default_factory=list)

    def add(self, reason: str) -> None:
        """One reason, once."""
        if reason and reason not in self.reasons:
            self.reasons.append(reason)


async def run_bench(means: Means, done: Sequence[BenchTrial]) -> Outcome:
    """Make every trial of the plan that is not in ``done``; each is on the disk before its place is free.

    The first Ctrl-C lets trials in flight end, the second one gives them up; of these nothing is recorded but
    how many requests were sent, which may be billed. They will be asked again, as is whatever was not sent
    because a circuit was open.
    """
    outcome, over = Outcome(), {trial.key for trial in done}
    todo = [each for each in means.manifest.planned if each.stage is None and each.key not in over]
    watch = asyncio.ensure_future(_give_up_when_asked(means, asyncio.current_task()))
    try:
        await _plain(means, todo, outcome)
        await means.writer.flush()
        await run_stages(means, done, outcome.add)
        await means.writer.flush()
    except asyncio.CancelledError:
        if not means.stop.now.is_set():
            raise
        outcome.add("interrupted")
        await means.writer.flush()
    finally:
        watch.cancel()
    if means.stop.no_more.is_set():
        outcome.add("interrupted")
    for live in means.targets.values():
        if live.breaker.reason is not None:
            outcome.add(f"{live.name}: {live.breaker.reason}")
    return outcome


async def _give_up_when_asked(means: Means, work: asyncio.Task[object] | None) -> None:
    while not means.stop.now.is_set():
        await asyncio.sleep(LOOK_SECONDS)
    if work is not None:
        work.cancel()


async def _plain(means: Means, todo: Sequence[PlannedBench], outcome: Outcome) -> None:
    """Trials outside of load stages, as many at once as the run's concurrency says."""
    waiting = list(reversed(todo))
    if not waiting:
        return
    settings = means.manifest.settings
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(
                StreamClient(
                    live.address,
                    slots=settings.concurrency,
                    transport="httpx" if settings.transport == "httpx" else "asyncio",
                    breaker=live.breaker,
                )
            )
            for name, live in means.targets.items()
        }

        async def worker() -> None:
            """One of the run's slots: trial after trial until none waits or the run is stopped."""
            while waiting and not means.stop.no_more.is_set():
                planned = waiting.pop()
                live = means.targets[planned.target]
                if live.breaker.reason is None:
                    await _one(means, planned, live, clients[planned.target], outcome)

        async with asyncio.TaskGroup() as group:
            for _ in range(settings.concurrency):
                group.create_task(worker())


async def _one(means: Means, planned: PlannedBench, live: LiveTarget, ask: Ask, outcome: Outcome) -> None:
    case, slot, begun = means.cases[planned.case], slot_of(planned.slot), datetime.now(UTC)
    entry = Entry(means.manifest.run_id, planned.key, live.name, begun, begun, live.price)
    reason = means.spending.reason(live.name)
    if reason:
        outcome.add(f"{live.name}: {reason}")
        await means.writer.write(skipped_record(case, slot, planned.seed, entry, reason))
        return
    left = TaskLimits(
        left_seconds=means.spending.left_seconds(live.name), left_usd=means.spending.left_usd(live.name)
    )
    agent = AgentMeans(means.workbench, left, Costing(live.price))
    counted = Counted(ask, means.flight.noting(planned.key))
    try:
        played = await play(case, slot, counted, live.target, means.manner(), agent)
    except asyncio.CancelledError:
        if counted.sent:
            ended = replace(entry, finished_at=datetime.now(UTC))
            cut = skipped_record(case, slot, planned.seed, ended, GIVEN_UP, cut=counted.sent)
            means.writer.begin(cut)
        raise
    record = trial_record(played, replace(entry, finished_at=datetime.now(UTC)), means.keeping)
    if not counts(record):
        return
    await means.writer.write(record)
    means.spending.add(record)
    means.progress(record)


@dataclass(frozen=True)
class Costing:
    """Dollars of a request at one price."""

    price: BenchPrice

    def __call__(self, result: StreamResult) -> float | None:
        """What it cost; None where that is not known."""
        return request_cost(result.usage, self.price)[0]
