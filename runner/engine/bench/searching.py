"""Searching: the highest level that keeps the limits, found by probes that decide as they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol as Interface

from runner.endpoint.shapes.playing import Unit
from runner.endpoint.shapes.stages import PlannedStage, probe_stage, unit_key
from runner.endpoint.statistics.goodput import GOOD_SHARE, verdict_of, why_undecided
from runner.endpoint.statistics.load import load_point
from runner.engine.bench.live import Means
from runner.records.bench_manifest import LoadStage
from runner.records.bench_trial import BenchTrial

MOST_PROBES = 15
NARROW = 0.1


class Stages(Interface):
    """What plays stages."""

    @property
    def means(self) -> Means:
        """What the run has."""
        ...

    async def play(self, stage: LoadStage, units: Sequence[Unit]) -> list[BenchTrial]:
        """Make what is missing of a stage; all its trials, those of earlier sittings too."""
        ...


async def search(stages: Stages, wanted: LoadStage) -> None:
    """The highest level that keeps the limits: doubling until one does not, then halving the gap.

    Ends when the gap is a tenth of the failing level, or after 15 probes, and says why. Probes that were made
    in an earlier sitting are not made again: the search takes the same way.
    """
    means = stages.means
    case = means.cases[wanted.case or ""]
    lowest, highest = (int(each) for each in wanted.levels)
    kept, failing, level = 0, highest + 1, lowest
    for _ in range(MOST_PROBES):
        probe = probe_stage(wanted, level, case)
        trials = await stages.play(probe.stage, _probe_units(probe))
        made = len([trial for trial in trials if trial.skipped is None])
        if made < len(probe.units):
            means.note(
                f"load: the search {wanted.key} ends at level {level}: {made} of {len(probe.units)} requests "
                "were made"
            )
            return
        good = _keeps(means, probe, trials)
        kept, failing = (level, failing) if good else (kept, min(failing, level))
        if kept >= highest or failing <= lowest or failing - kept <= max(1, int(failing * NARROW)):
            break
        level = min(kept * 2, highest) if failing > highest else (kept + failing) // 2
    found = f"the limits are kept up to {kept}" if kept else "no level is known to keep the limits"
    means.note(f"load: the search {wanted.key} ends: {found}")


def _keeps(means: Means, probe: PlannedStage, trials: Sequence[BenchTrial]) -> bool:
    """Whether a level keeps the limits; one that is undecided does not, and what would decide it is told."""
    within = load_point(probe.stage, trials, means.manifest.settings.limits).within_limits
    count, of = (0, 0) if within is None else (within.count, within.of)
    verdict = verdict_of(count, of, GOOD_SHARE)
    said = {"kept": "keeps the limits", "missed": "does not keep the limits"}.get(verdict)
    said = said or f"is undecided and counts as not kept: {why_undecided(count, of, GOOD_SHARE)}"
    means.note(f"load: {probe.stage.key} {said}")
    return verdict == "kept"


def _probe_units(probe: PlannedStage) -> list[Unit]:
    return [
        Unit(unit_key(probe.stage.key, number), number, case, slot)
        for number, (case, slot) in enumerate(probe.units)
    ]
