"""Pace: how long load stages take by what was seen of them, and whether a budget of time covers one."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from statistics import median

from runner.endpoint.statistics.goodput import LEAST_TO_KEEP
from runner.engine.bench.ledger import LOAD_TIME_SHORT, LOAD_TIME_SPENT, Spending
from runner.records.bench_manifest import BenchManifest, LoadStage
from runner.records.bench_trial import BenchTrial


@dataclass
class Pace:
    """Seconds that requests, or sessions, of load stages took so far, by case and target."""

    manifest: BenchManifest
    over: set[str] = field(default_factory=set)
    """Stages that need nothing more."""
    _seen: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def see(self, trial: BenchTrial) -> None:
        """Take a trial of a load stage into account; one whose requests were not all sent says nothing."""
        if trial.load is not None and trial.skipped is None:
            took = [each.timing.total_ms for each in trial.requests]
            known = [each for each in took if each is not None]
            if known and len(known) == len(took):
                self._seen[(trial.case, trial.target)].append(sum(known) / 1000)

    def unit_seconds(self, stage: LoadStage) -> float | None:
        """What one request or session takes: as this target did, else as others did; None: not seen yet."""
        mine = self._seen.get((stage.case or "", stage.target))
        others = [took for (case, _), each in self._seen.items() if case == stage.case for took in each]
        return median(mine or others) if mine or others else None

    def needed(self, stage: LoadStage) -> float | None:
        """Seconds until a stage has a steady window worth having: warm-ups and then 20 requests, or all.

        Planned times say so exactly; a closed loop needs as many rounds as its level makes of them, and one
        more to reach the level. None where nothing is known of how long a request takes.
        """
        wanted = min(stage.requests, stage.warm_up_requests + LEAST_TO_KEEP)
        if stage.send_offsets_ms:
            return stage.send_offsets_ms[max(0, wanted - 1)] / 1000
        took = self.unit_seconds(stage)
        if took is None:
            return None
        level = max(1, int(stage.level))
        rounds = ceil(stage.warm_up_requests / level) + ceil((wanted - stage.warm_up_requests) / level)
        return took * rounds

    def needed_by_level(self, stage: LoadStage) -> float | None:
        """The same for all targets that are still to be asked at this level: one alone compares nothing."""
        same = [
            each
            for each in self.manifest.stages
            if (each.group, each.level) == (stage.group, stage.level)
            and each.key not in self.over
            and each.target != stage.target
        ]
        own = self.needed(stage)
        if own is None:
            return None
        others = (self.needed(each) for each in same)
        return own + sum(own if other is None else other for other in others)


class StageClock:
    """The time of one stage: why it is not begun, or ended.

    Args:
        most_seconds: seconds of load in this sitting after which the stage ends; None: no limit.
    """

    def __init__(self, spending: Spending, pace: Pace, stage: LoadStage, most_seconds: float | None) -> None:
        self._spending = spending
        self._pace = pace
        self._stage = stage
        self._most = most_seconds
        self._begun: float | None = None
        self._sent = 0

    def start(self) -> None:
        """Who asks is ready: from now on time counts."""
        self._begun = time.monotonic()

    def stop(self) -> None:
        """Count what the stage took."""
        self._spending.load_seconds += self._elapsed
        self._begun = None

    def reason_not_to_begin(self, note: Callable[[str], None]) -> str:
        """Why not even a warm-up is sent; empty where nothing speaks against it."""
        if self._most is None:
            return ""
        left = self._most - self._spending.load_seconds
        needed = self._pace.needed_by_level(self._stage)
        if left <= 0:
            return LOAD_TIME_SPENT
        if needed is None or needed <= left:
            return ""
        note(
            f"load: {self._stage.key} is not begun: warm-ups and a steady window take about {needed:.1f} s "
            f"at this level, all its targets together, and {left:.1f} s of the budget are left"
        )
        return LOAD_TIME_SHORT

    def reason(self) -> str:
        """Why nothing more is sent; asked before each request."""
        if self._most is None:
            return ""
        if self._begun is not None:
            self._sent += 1
        if self._spending.load_seconds + self._elapsed >= self._most:
            return LOAD_TIME_SPENT
        needed = self._pace.needed(self._stage)
        has_begun = self._begun is not None and self._sent > self._stage.warm_up_requests
        if has_begun or needed is None or self._stage.send_offsets_ms:
            return ""
        left = self._most - self._spending.load_seconds
        # The first warm-up told how long a request takes: the others are spared where that is too long.
        return LOAD_TIME_SHORT if needed > left else ""

    @property
    def _elapsed(self) -> float:
        return 0.0 if self._begun is None else time.monotonic() - self._begun
