"""Ending: the figures of a run from its files, and the exit code that they come to."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from runner.endpoint.statistics.outcomes import is_answered
from runner.endpoint.statistics.summary import Ended, Ending, account, summarise
from runner.engine.bench.ledger import CUT
from runner.errors import HarnessmarkError
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_summary import BenchSummary
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import BenchRun

DONE, BELOW_THRESHOLD, PARTIAL, OWN_FAULT = 0, 2, 3, 4


def finish(run: BenchRun, manifest: BenchManifest, reasons: Sequence[str]) -> BenchSummary:
    """Write the figures of what is there."""
    trials = run.trials()
    so_far = account(manifest, trials)
    cut = sorted(CUT & so_far.skipped.keys())
    told = [*reasons, *silent_targets(manifest, trials)]
    partial = bool(so_far.left or cut or told)
    ended: Ended = "partial" if partial else "complete"
    reason = "; ".join(told or cut) or ("something was left" if partial else "")
    ending = Ending(ended, reason, PARTIAL if partial else DONE)
    summary = summarise(manifest, trials, ending, run.trials_sha256())
    # A condition whose figure is not known was not met either: a gate that cannot tell must not open.
    if not partial and any(each.failed is not False for each in summary.thresholds):
        summary = summary.model_copy(update={"exit_code": BELOW_THRESHOLD})
    run.write_summary(summary)
    return summary


def silent_targets(manifest: BenchManifest, trials: Sequence[BenchTrial]) -> list[str]:
    """Targets that were asked and never answered: such a run has measured nothing, and must not look done."""
    found = []
    for target in manifest.targets:
        mine = [r for trial in trials if trial.target == target.identifier for r in trial.requests]
        if mine and not any(map(is_answered, mine)):
            asked = "the only request was not" if len(mine) == 1 else f"not one of {len(mine):,} requests was"
            found.append(f"{target.identifier}: {asked} answered")
    return found


def finish_with_fault(run: BenchRun, manifest: BenchManifest, error: BaseException) -> None:
    """Write the figures of what was made before our own fault; the fault itself is told by who raised it."""
    ending = Ending("harness-fault", type(error).__name__, OWN_FAULT)
    with contextlib.suppress(HarnessmarkError):
        run.write_summary(summarise(manifest, run.trials(), ending, run.trials_sha256()))


def again(run: BenchRun) -> BenchSummary:
    """The figures from the files alone, with the ending that was noted; nothing is written."""
    manifest, before = run.manifest(), run.summary()
    ending = Ending("partial", "the run was killed, or is still at work", PARTIAL)
    if before is not None:
        ending = Ending(before.ended, before.ended_reason, before.exit_code)
    return summarise(manifest, run.trials(), ending, run.trials_sha256())
