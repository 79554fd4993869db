"""Standing of a benchmark: what its files, its lock and the words of its runner say by now."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from runner.endpoint.statistics.outcomes import OURS, cut_words
from runner.endpoint.statistics.summary import account
from runner.engine.bench.ledger import FOR_ALL, MADE_UP_FOR, MONEY_SPENT, asks_again, counts, done_by_key
from runner.engine.eta import Eta, estimate
from runner.engine.lock import is_locked
from runner.engine.places import Places
from runner.engine.standing import Share, Standing, runner_of
from runner.engine.status import RunnerStatus
from runner.records.bench_manifest import BenchManifest, LoadStage
from runner.records.bench_summary import BenchAccount, BenchSummary
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import BenchRun

NOTHING = "it ended before its first trial; nothing was measured"


def bench_name(run_id: str) -> str:
    """Name of the lock and of the state of a benchmark."""
    return f"bench-{run_id}"


def bench_standing(
    run: BenchRun, places: Places, now: datetime, prepared: BenchManifest | None = None
) -> Standing:
    """Where ``run`` stands.

    Args:
        prepared: what is known of one that may have no file yet, as its preparation is not over.

    Raises:
        RecordError, StoreError: its files cannot be read.
    """
    begun = prepared is None or run.trials_path.is_file()
    manifest = run.manifest() if prepared is None or begun else prepared
    trials, summary = (run.trials(), run.summary()) if begun else ((), None)
    name = bench_name(manifest.run_id)
    runner = runner_of(places, name, now)
    if runner.state == "ended" and summary is not None:
        runner = runner.model_copy(update={"exit_code": summary.exit_code})
    so_far = account(manifest, trials)
    cut = sum(count for reason, count in so_far.skipped.items() if reason in MADE_UP_FOR)
    over = done_by_key(trials)
    left = so_far.left + cut
    costs = [*_costs(manifest, trials)]
    return Standing(
        kind="benchmark",
        identifier=manifest.run_id,
        about=f"{manifest.model} at {', '.join(target.label for target in manifest.targets)}",
        demonstration=manifest.demonstration,
        created_at=manifest.created_at,
        unit="trials",
        planned=so_far.planned,
        done=so_far.done,
        skipped=sum(so_far.skipped.values()) - cut,
        left=left,
        parts=tuple(_parts(manifest, trials, over)),
        at_work=_at_work(manifest, _behind(trials, runner.since)) if runner.is_alive and begun else None,
        spent_usd=None
        if manifest.demonstration or runner.phase == "pre-flight"
        else sum(cost for cost in costs if cost is not None),
        unpriced=0 if manifest.demonstration else costs.count(None),
        budget_usd=manifest.settings.budget_usd,
        measured_seconds=_measured_seconds(trials),
        eta=_eta(manifest, trials, over, runner),
        runner=runner,
        notes=(*_notes(so_far, summary, runner), *(() if begun or runner.is_alive else (NOTHING,))),
        folder=os.path.relpath(run.folder, places.root),
        resume=f"invoke bench --resume {manifest.run_id}"
        if begun and _goes_on(manifest, summary, so_far) and not is_locked(places.lock(name))
        else None,
    )


def _costs(manifest: BenchManifest, trials: Sequence[BenchTrial]) -> Iterator[float | None]:
    """Dollars of each request that is billed, of those before the run in one sum; nobody bills a 4xx."""
    for before in manifest.preflight:
        if before.requests:
            yield before.cost_usd
    for trial in trials:
        yield from [None] * trial.cut_requests
    for request in (request for trial in trials for request in trial.requests):
        refused = request.http_status is not None and 400 <= request.http_status < 500
        if request.cost_usd is not None or not (refused or request.outcome in OURS):
            yield request.cost_usd


def _goes_on(manifest: BenchManifest, summary: BenchSummary | None, so_far: BenchAccount) -> bool:
    """Whether resuming does anything: asks, or writes missing figures."""
    return summary is None or asks_again(manifest, so_far, complete=summary.ended == "complete")


def _parts(
    manifest: BenchManifest, trials: Sequence[BenchTrial], over: Mapping[str, BenchTrial]
) -> Iterator[Share]:
    """Each target outside of load, then all load stages of each target."""
    planned: Counter[tuple[str, bool]] = Counter()
    done: Counter[tuple[str, bool]] = Counter()
    for each in manifest.planned:
        planned[each.target, each.stage is not None] += 1
        done[each.target, each.stage is not None] += each.key in over
    searching = {stage.target for stage in manifest.stages if stage.adaptive}
    for target in manifest.targets:
        name = target.identifier
        if planned[name, False]:
            yield Share(name=name, done=done[name, False], planned=planned[name, False])
        if planned[name, True] or name in searching:
            probed = sum(t.load is not None and t.skipped is None and t.target == name for t in trials)
            yield Share(
                name=f"{name} under load",
                done=probed if name in searching else done[name, True],
                planned=None if name in searching else planned[name, True],
            )


def _behind(trials: Sequence[BenchTrial], since: datetime | None) -> list[BenchTrial]:
    """Trials that the runner has behind it: made, left out for good, or cut by a budget since it began."""
    return [trial for trial in trials if counts(trial) or (since is not None and trial.finished_at >= since)]


def _at_work(manifest: BenchManifest, behind: Sequence[BenchTrial]) -> str:
    """What comes next after what is on the disk: trials first, then the stages in their order."""
    keys = {trial.key for trial in behind}
    plain = [each.key for each in manifest.planned if each.stage is None]
    waiting = sum(key not in keys for key in plain)
    if waiting:
        return f"trials outside of load, {len(plain) - waiting} of {len(plain)} done"
    sent = Counter(t.load.stage for t in behind if t.load is not None)
    for number, stage in enumerate(manifest.stages, 1):
        if stage.adaptive or sent[stage.key] < stage.requests:
            return f"load stage {number} of {len(manifest.stages)}: {_stage_words(stage, sent)}"
    return "the figures"


def _stage_words(stage: LoadStage, sent: Counter[str]) -> str:
    if stage.adaptive:
        probed = sum(count for key, count in sent.items() if key.startswith(stage.key))
        return f"{stage.key}, a search, {probed} requests so far"
    return f"{stage.key}, {sent[stage.key]} of {stage.requests} requests"


def _measured_seconds(trials: Sequence[BenchTrial]) -> float:
    """How long something was in flight: what ran side by side counts once."""
    total, until = 0.0, None
    for begun, ended in sorted((t.started_at, t.finished_at) for t in trials if t.requests):
        since = begun if until is None else max(begun, until)
        total += max((ended - since).total_seconds(), 0.0)
        until = ended if until is None else max(ended, until)
    return round(total, 1)


def _eta(
    manifest: BenchManifest,
    trials: Sequence[BenchTrial],
    over: Mapping[str, BenchTrial],
    runner: RunnerStatus,
) -> Eta:
    """As for runs, of the trials outside of load; a case at a target is a cell."""
    seconds: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for trial in trials:
        if trial.skipped is None and trial.load is None:
            seconds[trial.target, trial.case].append(trial.seconds)
    todo = [each for each in manifest.planned if each.key not in over]
    left = [(each.target, each.case) for each in todo if each.stage is None]
    found = estimate(seconds, left, [], manifest.settings.concurrency)
    under_load = len(todo) - len(left)
    if not under_load and not (runner.is_alive and any(stage.adaptive for stage in manifest.stages)):
        return found
    basis = f"{found.basis}; load stages are not in it" if left else "how long load stages take is not known"
    return Eta(seconds=found.seconds if left else None, at_least=True, basis=basis)


def _notes(so_far: BenchAccount, summary: BenchSummary | None, runner: RunnerStatus) -> Iterator[str]:
    if so_far.cut_requests:
        yield cut_words(so_far.cut_requests)
    for reason, count in so_far.skipped.items():
        again = "; resuming asks them again" if reason in MADE_UP_FOR else ""
        again = f"; {FOR_ALL}" if reason == MONEY_SPENT else again
        yield f"{count} skipped: {reason}{again}"
    if summary is not None and summary.ended_reason and not runner.is_alive:
        yield f"ended because: {summary.ended_reason}"
