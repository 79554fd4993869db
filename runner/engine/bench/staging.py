"""Staging: load stages one after the other, so that no two loads ever overlap."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from runner.endpoint.client import StreamClient
from runner.endpoint.garbage import without_collection
from runner.endpoint.recording import Entry, skipped_record, trial_record
from runner.endpoint.shapes.playing import Done, StageMeans, Unit, play_stage
from runner.endpoint.shapes.stages import PlannedStage, probe_stage, unit_key
from runner.endpoint.statistics.goodput import GOOD_SHARE, verdict_of
from runner.endpoint.statistics.load import load_point
from runner.engine.bench.ledger import LOAD_TIME_SPENT, counts
from runner.engine.bench.live import LiveTarget, Means
from runner.engine.bench.order import slot_of
from runner.records.bench_manifest import LoadStage
from runner.records.bench_trial import BenchTrial, LoadPlace

OPEN_SLOTS = 256
"""Connections of an open loop; who would need more waits, and the wait is in its latency from schedule."""
MOST_PROBES = 15
NARROW = 0.1

Note = Callable[[str], None]


async def run_stages(means: Means, done: Sequence[BenchTrial], add: Note) -> None:
    """Every stage of the plan that is not complete, in its order."""
    earlier: dict[str, list[BenchTrial]] = defaultdict(list)
    for trial in done:
        if trial.load is not None:
            earlier[trial.load.stage].append(trial)
    for stage in means.manifest.stages:
        if means.stop.no_more.is_set():
            return
        staging = _Staging(means, earlier, add)
        if stage.adaptive:
            await _search(staging, stage)
        else:
            await staging.play(stage, staging.units_of(stage))


@dataclass(frozen=True)
class _Staging:
    means: Means
    earlier: dict[str, list[BenchTrial]]
    add: Note

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
        began, made = time.monotonic(), list(before)
        sent: set[str] = set()
        whole = means.manifest.settings.load_budget_seconds

        def stopped() -> str:
            if means.stop.no_more.is_set():
                return "interrupted"
            if live.breaker.reason is not None:
                return live.breaker.reason
            if whole is not None and means.spending.load_seconds + time.monotonic() - began >= whole:
                return LOAD_TIME_SPENT
            return means.spending.money_reason(live.name)

        def over_with(unit_done: Done) -> None:
            record = _record(means, live, unit_done)
            if counts(record):
                sent.add(record.key)
                made.append(record)
                means.spending.add(record)
                means.writer.begin(record)

        means.note(f"load: {stage.key}, {len(todo)} of {len(units)} to send")
        reason = await self._played(stage, todo, sitting, live, stopped, over_with)
        means.spending.load_seconds += time.monotonic() - began
        await means.writer.flush()
        if reason and reason not in {"interrupted", live.breaker.reason}:
            self.add(f"{live.name}: {reason}")
            left = [unit for unit in todo if unit.key not in sent]
            await self._skip(left, stage, sitting, live, reason)
        return made

    async def _played(
        self,
        stage: LoadStage,
        todo: Sequence[Unit],
        sitting: int,
        live: LiveTarget,
        stopped: Callable[[], str],
        over: Callable[[Done], None],
    ) -> str:
        reason = stopped()
        if reason:
            return reason
        slots = int(stage.level) if stage.closed_loop else min(OPEN_SLOTS, len(todo))
        transport = self.means.manifest.settings.transport
        async with StreamClient(
            live.address,
            slots=max(1, slots),
            transport="httpx" if transport == "httpx" else "asyncio",
            breaker=live.breaker,
            # A pause after a 429 would turn an open loop into a closed one.
            pace_seconds=0.0,
        ) as client:
            with without_collection():
                how = StageMeans(client, live.target, self.means.manner(), stopped, over)
                return await play_stage(stage, todo, sitting, how)

    async def _skip(
        self, units: Sequence[Unit], stage: LoadStage, sitting: int, live: LiveTarget, reason: str
    ) -> None:
        now = datetime.now(UTC)
        for unit in units:
            place = LoadPlace(
                stage=stage.key,
                level=stage.level,
                number=unit.number,
                sitting=sitting,
                warm_up=unit.slot.warm_up,
            )
            entry = Entry(self.means.manifest.run_id, unit.key, live.name, now, now, live.price, place)
            seed = unit.case.seed(self.means.manifest.settings.seed, unit.slot)
            await self.means.writer.write(skipped_record(unit.case, unit.slot, seed, entry, reason))


async def _search(staging: _Staging, search: LoadStage) -> None:
    """The highest level that keeps the limits: doubling until one does not, then halving the gap.

    Ends when the gap is a tenth of the failing level, or after 15 probes. Probes that were made in an
    earlier sitting are not made again: the search takes the same way.
    """
    means = staging.means
    case, limits = means.cases[search.case or ""], means.manifest.settings.limits
    lowest, highest = (int(each) for each in search.levels)
    kept, failing, level = 0, highest + 1, lowest
    for _ in range(MOST_PROBES):
        probe = probe_stage(search, level, case)
        trials = await staging.play(probe.stage, _probe_units(probe))
        if len([trial for trial in trials if trial.skipped is None]) < len(probe.units):
            return
        within = load_point(probe.stage, trials, limits).within_limits
        good = within is not None and verdict_of(within.count, within.of, GOOD_SHARE) == "kept"
        means.note(f"load: {probe.stage.key} {'keeps' if good else 'does not keep'} the limits")
        kept, failing = (level, failing) if good else (kept, min(failing, level))
        if kept >= highest or failing <= lowest or failing - kept <= max(1, int(failing * NARROW)):
            return
        level = min(kept * 2, highest) if failing > highest else (kept + failing) // 2


def _probe_units(probe: PlannedStage) -> list[Unit]:
    return [
        Unit(unit_key(probe.stage.key, number), number, case, slot)
        for number, (case, slot) in enumerate(probe.units)
    ]


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
