"""Examples of the records of an endpoint benchmark."""

from __future__ import annotations

from datetime import UTC, date, datetime

from runner.records.base import sha256_of
from runner.records.bench_figures import (
    Distribution,
    Money,
    QuantileFigure,
    RateFigure,
    Reliability,
    ScoreFigure,
    Tally,
    Tokens,
)
from runner.records.bench_manifest import (
    BenchCase,
    BenchDeadlines,
    BenchHost,
    BenchManifest,
    BenchPrice,
    BenchSettings,
    BenchTarget,
    BenchTool,
    PlannedBench,
)
from runner.records.bench_summary import BenchAccount, BenchSummary, TargetSummary
from runner.records.bench_trial import (
    BenchRequest,
    BenchScore,
    BenchTiming,
    BenchTrial,
    BenchUsage,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 30, 12, 0, 1, tzinfo=UTC)
RUN = "20261130t120000-smoke-0a1b2c"
TARGET = "replay/replay-careful:swift"
CASE = "seeded_grounded_known"
RATES = (
    "rate_limited",
    "timed_out",
    "truncated",
    "incomplete",
    "malformed",
    "broken_stream",
    "refused",
    "http_error",
    "empty",
    "buffered",
    "usage_missing",
    "not_streamed",
)
KEY = f"{TARGET}|{CASE}|1"


def manifest() -> BenchManifest:
    """A plan of one trial."""
    price = BenchPrice(priced_on=date(2026, 11, 30), missing_reason="the built-in server bills nothing")
    target = BenchTarget(
        identifier=TARGET,
        model="replay-careful",
        label="replay:swift",
        title="Replay, careful",
        provider="replay",
        region="swift",
        model_id="replay-careful",
        protocol="chat-completions",
        replay="hello-world/fair-rounding",
        price=price,
    )
    case = BenchCase(
        identifier=CASE,
        title="A fact that is there",
        kind="quality",
        category="grounding",
        dimension="factuality",
        max_output_tokens=128,
    )
    deadlines = BenchDeadlines(connect=10.0, headers=120.0, stall=60.0, total=600.0)
    return BenchManifest(
        run_id=RUN,
        model="replay-careful",
        demonstration=True,
        created_at=NOON,
        tool=BenchTool(version="1.0.0", methodology=1),
        host=BenchHost(system="Linux", machine="x86_64", processors=2, python="3.11.9", event_loop="asyncio"),
        settings=BenchSettings(profile="smoke", seed=1, order_seed=7, salt="salt", deadlines=deadlines),
        settings_sha256=sha256_of(b"settings"),
        reference=TARGET,
        targets=(target,),
        cases=(case,),
        planned=(PlannedBench(key=KEY, target=TARGET, case=CASE, slot="1", seed=928552059),),
        calibration_missing="switched off",
        preflight_missing="the built-in server accepts everything",
    )


def trial() -> BenchTrial:
    """The trial of that plan."""
    request = BenchRequest(
        outcome="ok",
        started_at=NOON,
        http_status=200,
        finish_reason="stop",
        ended_cleanly=True,
        streamed=True,
        timing=BenchTiming(ttft_ms=210.5, latency_ms=400.0),
        usage=BenchUsage(prompt_tokens=100, output_tokens=3),
        fragments=((210.5, "c", 1, None), (400.0, "c", 2, None)),
        fragment_count=2,
        text="909",
    )
    return BenchTrial(
        run_id=RUN,
        key=KEY,
        target=TARGET,
        case=CASE,
        case_kind="quality",
        slot="1",
        run=1,
        seed=928552059,
        started_at=NOON,
        finished_at=LATER,
        outcome="ok",
        score=BenchScore(verdict="passed", value=1.0, answer="909", expected="909"),
        requests=(request,),
    )


def summary() -> BenchSummary:
    """The figures of that trial."""
    account = BenchAccount(planned=1, done=1)
    whole, none = RateFigure(count=1, of=1, rate=1.0, low=0.2, high=1.0), RateFigure(count=0, of=0)
    ttft = Distribution(
        tally=Tally(attempted=1, used=1),
        mean=210.5,
        minimum=210.5,
        maximum=210.5,
        quantiles=(QuantileFigure(q=0.5, value=210.5),),
        curve=(210.5,),
    )
    rates = dict.fromkeys(RATES, none) | {"answered": whole, "succeeded": whole}
    reliability = Reliability.model_validate({"requests": 1, "outcomes": {"ok": 1}, **rates})
    return BenchSummary(
        run_id=RUN,
        model="replay-careful",
        demonstration=True,
        methodology=1,
        manifest_sha256=manifest().digest(),
        trials_sha256=sha256_of(trial().to_line()),
        trials=1,
        first_trial_at=NOON,
        last_trial_at=LATER,
        ended="complete",
        exit_code=0,
        account=account,
        reference=TARGET,
        targets=(
            TargetSummary(
                target=TARGET,
                label="replay:swift",
                account=account,
                score=ScoreFigure(over_attempted=whole, over_answered=whole, verdicts={"passed": 1}),
                reliability=reliability,
                measures={"ttft_ms": ttft},
                tokens=Tokens(prompt=100, output=3, told_by=1, of=1),
                money=Money(requests=1, unknown={"the built-in server bills nothing": 1}, attempts=1),
            ),
        ),
    )
