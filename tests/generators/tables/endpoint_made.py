"""Made endpoint runs: plans, trials and figures of given truth, written as the store keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from runner.endpoint.statistics.summary import Ending, summarise
from runner.records import BenchManifest, BenchSummary, BenchTrial
from runner.records.bench_manifest import (
    BenchCalibration,
    BenchCase,
    BenchDeadlines,
    BenchHost,
    BenchPrice,
    BenchSettings,
    BenchTarget,
    BenchTool,
    CalibrationRow,
    LoadStage,
    PlannedBench,
)
from runner.records.bench_trial import (
    BenchAgent,
    BenchFailure,
    BenchRequest,
    BenchScore,
    BenchTiming,
    BenchToolCall,
    BenchUsage,
    LoadPlace,
)
from runner.store.bench_run import BenchRun, TrialLog

MODEL = "brisk-1"
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
PRICE = BenchPrice(input=2.0, output=8.0, cache_read=0.2, priced_on=date(2026, 11, 1), source="list")
UNPRICED = BenchPrice(priced_on=date(2026, 11, 1), missing_reason="not in the price book")
LEVELS = (1.0, 2.0, 4.0)
TASKS = 4


@dataclass(frozen=True)
class MadeTarget:
    """One mapping and how it behaves: its times, and every how many requests one fails."""

    label: str
    ttft_ms: float = 200.0
    latency_ms: float = 900.0
    price: BenchPrice = PRICE
    fails_every: int = 0
    failure: str = "rate_limited"
    message: str = "slow down"
    right: int = 7
    """Of ten answers, those that are right."""
    buffered: bool = False
    solves: int = 3
    """Of the coding tasks."""

    @property
    def identifier(self) -> str:
        """Its id in a run."""
        provider, _, region = self.label.partition(":")
        return f"{provider}/{MODEL}-raw" + (f":{region}" if region else "")


FAST = MadeTarget("swift")
SLOW = MadeTarget("slow:eu", ttft_ms=500.0, latency_ms=2500.0, price=UNPRICED, fails_every=5, right=5)


@dataclass(frozen=True)
class MadeRun:
    """One run to make."""

    run_id: str = "r1"
    day: int = 0
    targets: tuple[MadeTarget, ...] = (FAST, SLOW)
    profile: str = "standard"
    instances: int = 10
    load: bool = True
    coding: bool = True
    demonstration: bool = False
    calibrated: bool = True
    keep_responses: bool = True
    ended: str = "complete"
    methodology: int = 1
    left_out: int = 0
    """Planned instances of the last case that are skipped for want of time."""
    thresholds: tuple[str, ...] = ("ttft_p90_ms>300",)


def _target(made: MadeTarget, demonstration: bool) -> BenchTarget:
    provider, _, region = made.label.partition(":")
    return BenchTarget(
        identifier=made.identifier,
        model=MODEL,
        label=made.label,
        title=f"Brisk 1 via {made.label}",
        provider=provider,
        region=region or None,
        model_id=f"{MODEL}-raw",
        protocol="chat",
        base_url=None if demonstration else f"https://{provider}.example/v1",
        replay="plain" if demonstration else None,
        price=made.price,
        context_tokens=200_000,
    )


CASES = (
    BenchCase(identifier="path", title="Shortest path", kind="quality", category="puzzles",
              dimension="reasoning", difficulty="hard", max_output_tokens=500),
    BenchCase(identifier="extract", title="Extraction", kind="quality", category="text",
              dimension="extraction", difficulty="easy", max_output_tokens=500),
    BenchCase(identifier="needle", title="Needles", kind="quality", category="text",
              dimension="long context", difficulty="hard", max_output_tokens=500),
    BenchCase(identifier="stream", title="Fixed output", kind="performance", category="speed",
              dimension="speed", max_output_tokens=500),
    BenchCase(identifier="mend", title="Mend a function", kind="agentic", category="coding",
              dimension="coding", max_output_tokens=2000),
)  # fmt: skip

LOAD_CASE = BenchCase(
    identifier="concurrency_1", title="Load", kind="performance", category="speed", dimension="speed",
    max_output_tokens=500,
)  # fmt: skip


def _request(made: MadeTarget, number: int, at: datetime, offset: float | None = None) -> BenchRequest:
    fails = bool(made.fails_every) and number % made.fails_every == made.fails_every - 1
    shift = 1 + (number % 7) / 20
    if fails:
        return BenchRequest(
            outcome=made.failure,
            failure=BenchFailure(code="429", message=made.message, phase="headers"),
            started_at=at,
            offset_ms=offset,
            http_status=429,
            timing=BenchTiming(headers_ms=20.0, total_ms=25.0),
            cost_missing="the endpoint told no token counts",
        )
    ttft, latency = made.ttft_ms * shift, made.latency_ms * shift
    priced = made.price.missing_reason is None
    return BenchRequest(
        outcome="ok",
        started_at=at,
        offset_ms=offset,
        http_status=200,
        finish_reason="stop",
        ended_cleanly=True,
        streamed=True,
        connection_reused=True,
        model_reported=f"{MODEL}-raw",
        timing=BenchTiming(
            headers_ms=ttft / 2, ttft_ms=ttft, first_visible_ms=ttft + 50, ttfo_ms=ttft + 50,
            latency_ms=latency, done_ms=latency + 2, total_ms=latency + 3, tpot_ms=(latency - ttft) / 100,
            output_tps=1000 * 100 / (latency - ttft), gap_count=99, gap_p95_ms=12.0 * shift, gap_max_ms=40.0,
            buffered=made.buffered, burst_ratio=0.9 if made.buffered else 0.1,
        ),
        usage=BenchUsage(prompt_tokens=300, output_tokens=101, reasoning_tokens=20),
        cost_usd=0.001408 if priced else None,
        cost_missing=None if priced else made.price.missing_reason,
        fragments=((ttft, "c", 4, None), (latency, "c", 4, None)),
        fragment_count=2,
        text="the secret words of the model",
    )  # fmt: skip


def _score(made: MadeTarget, number: int, request: BenchRequest) -> BenchScore:
    if request.outcome != "ok":
        return BenchScore(verdict="no_answer", value=None)
    right = number % 10 < made.right
    return BenchScore(
        verdict="passed" if right else "failed", value=float(right), answer="42" if right else "41"
    )


def _agent(made: MadeTarget, number: int) -> BenchAgent:
    solved = number < made.solves
    call = BenchToolCall(turn=1, name="read", arguments="{}", ok=True, no_progress=False, seconds=0.1)
    return BenchAgent(
        stop_reason="finished" if solved else "max_turns",
        turns=3 if solved else 12,
        tool_calls=5,
        invalid_calls=0 if solved else 1,
        no_progress_calls=0 if solved else 2,
        test_runs=1,
        self_verified=solved,
        wall_seconds=12.5,
        tool_seconds=1.5,
        prompt_tokens=4000,
        output_tokens=700,
        calls=(call,) * 5,
    )


def _trials(made: MadeRun) -> list[BenchTrial]:
    begun = NOON + timedelta(days=made.day)
    found: list[BenchTrial] = []

    def add(target: MadeTarget, case: BenchCase, slot: str, number: int, **more: object) -> None:
        at = begun + timedelta(seconds=len(found))
        request = more.pop("request", None) or _request(target, number, at)
        assert isinstance(request, BenchRequest)
        fields: dict[str, object] = {
            "run_id": made.run_id,
            "key": f"{target.label}|{case.identifier}|{slot}",
            "target": target.identifier,
            "case": case.identifier,
            "case_kind": case.kind,
            "slot": slot,
            "run": number + 1,
            "seed": number + 1,
            "started_at": at,
            "finished_at": at + timedelta(seconds=1),
            "outcome": request.outcome,
            "score": _score(target, number, request),
            "requests": (request,),
            "cost_usd": request.cost_usd,
            "responses_kept": made.keep_responses,
        }
        found.append(BenchTrial.model_validate({**fields, **more}))

    for number in range(made.instances):
        for case in CASES[:4]:
            for target in made.targets:
                if case is CASES[3] and number >= made.instances - made.left_out:
                    skipped = BenchScore(verdict="skipped", value=None)
                    add(target, case, str(number + 1), number, skipped="time budget", outcome=None,
                        score=skipped, requests=(), cost_usd=None)  # fmt: skip
                else:
                    add(target, case, str(number + 1), number)
    for target in made.targets if made.coding else ():
        for number in range(TASKS):
            passed = number < target.solves
            verdict = BenchScore(verdict="passed" if passed else "failed", value=float(passed))
            add(target, CASES[4], str(number + 1), number, agent=_agent(target, number), score=verdict)
    for target in made.targets if made.load else ():
        for stage in _stages(made, target):
            for number in range(stage.requests):
                busy = replace(target, latency_ms=target.latency_ms * (2 if stage.level > 2 else 1))
                offset = number // int(stage.level) * busy.latency_ms
                request = _request(busy, number, begun, offset)
                place = LoadPlace(stage=stage.key, level=stage.level, number=number)
                add(target, LOAD_CASE, f"{stage.key}-{number}", number, load=place, request=request)
    return found


def _stages(made: MadeRun, target: MadeTarget) -> list[LoadStage]:
    if not made.load:
        return []
    return [
        LoadStage(
            key=f"{target.label}|sweep|{level:g}",
            group="sweep",
            shape="sweep",
            target=target.identifier,
            case=LOAD_CASE.identifier,
            level=level,
            unit="in flight",
            closed_loop=True,
            requests=int(level) * 6,
        )
        for level in LEVELS
    ]


def _calibration() -> BenchCalibration:
    rows = [
        CalibrationRow(streams=streams, transport="asyncio", workers=1, requests=50, failed=0,
                       bias_p50_ms=bias, bias_p99_ms=5 * bias, limit_p50_ms=0.5, limit_p99_ms=2.0,
                       within=bias <= 0.4, gap_error_p50_ms=0.01, gap_error_p99_ms=0.4, loop_lag_ms=0.6,
                       cpu_us_per_chunk=11.0)
        for streams, bias in ((1, 0.2), (4, 0.9))
    ]  # fmt: skip
    return BenchCalibration(
        measured_at=NOON, first_ms=200.0, gap_ms=20.0, chunks=50, event_loop="asyncio",
        load_average=0.4, floor_ms=0.2, levels=tuple(rows),
        not_used=(rows[1].model_copy(update={"workers": 2}),),
    )  # fmt: skip


def made_manifest(made: MadeRun, trials: Sequence[BenchTrial]) -> BenchManifest:
    """The plan of the run."""
    calibration = _calibration() if made.calibrated else None
    return BenchManifest(
        run_id=made.run_id,
        model=MODEL,
        demonstration=made.demonstration,
        created_at=NOON + timedelta(days=made.day),
        tool=BenchTool(version="1.0", methodology=made.methodology, git_commit="c0ffee", git_dirty=False),
        host=BenchHost(system="Linux", machine="x86_64", processors=2, python="3.11", event_loop="asyncio"),
        settings=BenchSettings(
            profile=made.profile, seed=1, order_seed=1, salt="s",
            deadlines=BenchDeadlines(connect=5, headers=30, stall=30, total=60),
            keep_responses=made.keep_responses, thresholds=made.thresholds,
        ),
        settings_sha256="0" * 64,
        reference=made.targets[0].identifier,
        targets=tuple(_target(target, made.demonstration) for target in made.targets),
        cases=CASES,
        stages=tuple(stage for target in made.targets for stage in _stages(made, target)),
        planned=tuple(
            PlannedBench(key=trial.key, target=trial.target, case=trial.case, slot=trial.slot,
                         seed=trial.seed, stage=trial.load.stage if trial.load else None)
            for trial in trials
        ),
        calibration=calibration,
        calibration_missing=None if calibration else "--no-calibrate was given",
    )  # fmt: skip


def write_run(results: Path, made: MadeRun, *, figures: bool = True) -> BenchRun:
    """Write the run into its store below ``results``."""
    root = results / "demonstration" if made.demonstration else results
    trials = _trials(made)
    manifest = made_manifest(made, trials)
    run = BenchRun(root, MODEL, made.run_id)
    run.begin(manifest)
    log = TrialLog(run)
    with run.trials_path.open("ab") as stream:
        stream.writelines(trial.to_line() for trial in trials)
    log.close()
    if figures:
        run.write_summary(_summary(made, manifest, trials, run.trials_sha256()))
    return run


def _summary(
    made: MadeRun, manifest: BenchManifest, trials: Sequence[BenchTrial], digest: str
) -> BenchSummary:
    ended = {"complete": Ending("complete"), "partial": Ending("partial", "the budget ran out", 3)}
    return summarise(manifest, trials, ended[made.ended], digest)
