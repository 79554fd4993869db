"""Summary: from a manifest and its trials to every figure of a run; a pure function of both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runner.endpoint.statistics.agreement import agreements
from runner.endpoint.statistics.coding import coding
from runner.endpoint.statistics.distribution import distribution, measures
from runner.endpoint.statistics.doubts import asked_flags, request_flags
from runner.endpoint.statistics.load import curves
from runner.endpoint.statistics.money import money, tokens
from runner.endpoint.statistics.outcomes import GIVEN_UP, reliability
from runner.endpoint.statistics.pairing import comparisons
from runner.endpoint.statistics.scores import has_passed, of_one_kind, score, was_attempted
from runner.endpoint.statistics.thresholds import judged, parse_thresholds
from runner.endpoint.statistics.trust import client_error, run_flags, time_flags
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_summary import (
    BenchAccount,
    BenchSummary,
    CaseSummary,
    SliceSummary,
    TargetSummary,
)
from runner.records.bench_trial import BenchRequest, BenchTrial

ByTarget = Mapping[str, Sequence[BenchTrial]]
Ended = Literal["complete", "partial", "harness-fault"]


@dataclass(frozen=True)
class Ending:
    """How a run ended, and with which exit code."""

    ended: Ended
    reason: str = ""
    exit_code: int = 0


def summarise(
    manifest: BenchManifest, trials: Sequence[BenchTrial], ending: Ending, trials_sha256: str
) -> BenchSummary:
    """Every figure. Same input, same output: bootstraps are seeded with the run's own seed."""
    every, cut = dict[str, list[BenchTrial]](), dict[str, int]()
    for target in manifest.targets:
        mine = [trial for trial in trials if trial.target == target.identifier]
        cut[target.identifier] = sum(trial.cut_requests for trial in mine)
        every[target.identifier] = _ended(mine)
    outside = {name: [trial for trial in mine if trial.load is None] for name, mine in every.items()}
    variants = {case.identifier: case.variant_of for case in manifest.cases if case.variant_of}
    seed = manifest.settings.seed
    summary = BenchSummary(
        run_id=manifest.run_id,
        model=manifest.model,
        demonstration=manifest.demonstration,
        methodology=manifest.tool.methodology,
        manifest_sha256=manifest.digest(),
        trials_sha256=trials_sha256,
        trials=len(trials),
        first_trial_at=min((trial.started_at for trial in trials), default=None),
        last_trial_at=max((trial.finished_at for trial in trials), default=None),
        ended=ending.ended,
        ended_reason=ending.reason,
        exit_code=ending.exit_code,
        account=account(manifest, trials),
        reference=manifest.reference,
        targets=tuple(
            _target(manifest, name, outside[name], every[name], variants, cut[name]) for name in outside
        ),
        cases=tuple(_cases(manifest, outside, trials)),
        slices=tuple(_slices(manifest, outside)),
        comparisons=comparisons(manifest.reference, outside, seed),
        agreements=agreements(outside, {case.identifier: case.category for case in manifest.cases}, seed),
        load=curves(manifest.stages, _ended(trials), manifest.settings.limits, seed, manifest.calibration),
        coding=tuple(each for name, mine in outside.items() for each in coding(name, mine)),
        flags=(*run_flags(manifest), *asked_flags(manifest)),
        responses_kept=manifest.settings.keep_responses,
    )
    thresholds = judged(summary, parse_thresholds(manifest.settings.thresholds))
    return summary.model_copy(update={"thresholds": thresholds})


def account(
    manifest: BenchManifest, trials: Iterable[BenchTrial], target: str | None = None, case: str | None = None
) -> BenchAccount:
    """What became of everything that was planned, of one target, or of one case outside of load stages."""
    planned = {
        each.key: each
        for each in manifest.planned
        if (target is None or each.target == target)
        and (case is None or (each.case == case and each.stage is None))
    }
    mine = [
        trial
        for trial in trials
        if (target is None or trial.target == target)
        and (case is None or (trial.case == case and trial.load is None))
    ]
    cut, mine = sum(trial.cut_requests for trial in mine), _ended(mine)
    listed = [trial for trial in mine if trial.key in planned]
    skipped = Counter(trial.skipped for trial in listed if trial.skipped is not None)
    done = len(listed) - skipped.total()
    return BenchAccount(
        planned=len(planned),
        done=done,
        skipped=dict(sorted(skipped.items())),
        left=len(planned) - len(listed),
        warm_ups=sum(each.warm_up for each in planned.values()),
        unplanned=len(mine) - len(listed),
        cut_requests=cut,
    )


def _target(
    manifest: BenchManifest,
    name: str,
    outside: Sequence[BenchTrial],
    every: Sequence[BenchTrial],
    variants: Mapping[str, str],
    cut: int,
) -> TargetSummary:
    mine = [trial for trial in outside or every if not trial.warm_up]
    alike = of_one_kind(mine)
    scored = [trial for trial in alike if trial.case_kind != "agentic"]
    plain = _requests(trial for trial in mine if trial.case_kind != "agentic")
    requests = _requests(mine)
    skipped = _never_asked(mine)
    found = measures(plain or requests, skipped)
    ttft = found["ttft_ms"].quantile(0.5) if found["ttft_ms"].quantiles else None
    asked = [trial for trial in mine if was_attempted(trial)]
    valued = [trial for trial in alike if was_attempted(trial)]
    label = next(target.label for target in manifest.targets if target.identifier == name)
    streams, workers = _arrangement(manifest, outside, every)
    told = tokens(requests)
    client = client_error(manifest.calibration, streams, workers, requests)
    return TargetSummary(
        target=name,
        label=label,
        account=account(manifest, every, name).model_copy(update={"cut_requests": cut}),
        score=score(scored, variants) if any(map(was_attempted, scored)) else None,
        reliability=reliability(requests),
        measures=found,
        tokens=told,
        money=money(mine, sum(map(has_passed, valued)), len(valued), alike=valued, cut=cut),
        seconds=sum(trial.seconds for trial in asked),
        adjustments=dict(sorted(Counter(note for trial in mine for note in trial.adjustments).items())),
        client=client,
        flags=(
            *time_flags(manifest.calibration, streams, client, None if ttft is None else ttft.value),
            *request_flags(requests, told),
        ),
    )


def _arrangement(
    manifest: BenchManifest, outside: Sequence[BenchTrial], every: Sequence[BenchTrial]
) -> tuple[int, int]:
    """Streams and processes that a target's figures come from; of several loads those of the largest."""
    closed = {stage.key.partition("@")[0] for stage in manifest.stages if stage.closed_loop}
    places = [trial.load for trial in every if trial.load is not None]
    if outside or not places:
        return manifest.settings.concurrency, 1
    largest = max(places, key=lambda place: (place.stage.partition("@")[0] in closed, place.level))
    return int(largest.level) if largest.stage.partition("@")[0] in closed else 1, largest.workers


def _cases(
    manifest: BenchManifest, by_target: ByTarget, with_given_up: Sequence[BenchTrial]
) -> Iterable[CaseSummary]:
    for name, trials in by_target.items():
        groups: dict[str, list[BenchTrial]] = defaultdict(list)
        for trial in trials:
            groups[trial.case].append(trial)
        for case in manifest.cases:
            group = groups.get(case.identifier)
            if not group:
                continue
            mine = [trial for trial in group if not trial.warm_up]
            skipped = _never_asked(mine)
            asked = [trial for trial in mine if was_attempted(trial)]
            metrics = sorted({key for trial in asked for key in trial.score.metrics})
            requests = _requests(mine)
            tally = account(manifest, with_given_up, name, case.identifier)
            yield CaseSummary(
                target=name,
                case=case.identifier,
                account=tally,
                score=score(mine),
                reliability=reliability(requests),
                measures=measures(requests, skipped),
                money=money(
                    mine, sum(map(has_passed, asked)), len(asked), alike=asked, cut=tally.cut_requests
                ),
                metrics={
                    key: distribution(trial.score.metrics.get(key) for trial in asked) for key in metrics
                },
            )


def _slices(manifest: BenchManifest, by_target: ByTarget) -> Iterable[SliceSummary]:
    for by in ("dimension", "category", "difficulty"):
        names = {case.identifier: getattr(case, by) for case in manifest.cases}
        for target, trials in by_target.items():
            groups: dict[str, list[BenchTrial]] = defaultdict(list)
            for trial in trials:
                if trial.case_kind == "quality" and names.get(trial.case):
                    groups[names[trial.case]].append(trial)
            for name, group in sorted(groups.items()):
                yield SliceSummary.model_validate(
                    {"target": target, "by": by, "name": name, "score": score(group)}
                )


def _ended(trials: Iterable[BenchTrial]) -> list[BenchTrial]:
    """All but those that were given up in flight: they count as left, and are in no figure."""
    return [trial for trial in trials if trial.skipped != GIVEN_UP]


def _never_asked(trials: Iterable[BenchTrial]) -> Counter[str]:
    """Reasons of trials without a request. What a cut one was asked is among the requests that are timed."""
    return Counter(trial.skipped for trial in trials if trial.skipped is not None and not trial.requests)


def _requests(trials: Iterable[BenchTrial]) -> list[BenchRequest]:
    return [request for trial in trials for request in trial.requests]
