"""Example records: whole, valid, and small; tests change what they are about."""

from __future__ import annotations

from datetime import UTC, datetime

from runner.records import (
    Artifact,
    ArtifactScore,
    ArtifactState,
    BaseRun,
    CellIdentity,
    CheckPurpose,
    CheckRecord,
    CheckStatus,
    CorrectionRecord,
    Cost,
    CostBasis,
    DataWarning,
    Deployment,
    Fingerprint,
    Hosting,
    IntegrityFinding,
    IntegrityRecord,
    Invocation,
    InvocationKind,
    Judge,
    JudgementAttempt,
    JudgementRecord,
    JudgementStatus,
    Level,
    Limits,
    LoadSession,
    ModelName,
    Outcome,
    PlannedTrial,
    PlanRecord,
    ProofRecord,
    Quantiles,
    Scanned,
    SeenPart,
    ServerWindow,
    Serving,
    Severity,
    Source,
    SweepFindings,
    TestOutcomes,
    ThroughputRecord,
    TrialIdentity,
    TrialRecord,
    Usage,
    WindowGauge,
    WindowHistogram,
    Workload,
    sha256_of,
)
from runner.records.usage import CacheSemantics, SemanticsDecision

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 1, 31, 12, 1, 30, tzinfo=UTC)
NOTE = b"# Implementation\n\nOne line changed.\n"
PLAN_ID = "run-20260131-120000-0badcafe"
SOURCE = Source(repository="someone/results", commit="0" * 40, path="runs/one.json", license="MIT-0")


def cell(model: str = "model-a", **changes: str) -> CellIdentity:
    """A cell of the built-in harness."""
    parts: dict[str, str] = {
        "provider": "endpoint",
        "harness": "loop",
        "skill": "fix",
        "dataset": "hello-world",
        **changes,
    }
    return CellIdentity(
        model=ModelName(raw_id=f"vendor/{model}", slug=model),
        provider=parts["provider"],
        harness=parts["harness"],
        skill=parts["skill"],
        dataset=parts["dataset"],
    )


def identity(task: str = "fix-typo", trial: int = 1, model: str = "model-a") -> TrialIdentity:
    """A trial of that cell."""
    return TrialIdentity(cell=cell(model), task=task, trial=trial)


def usage() -> Usage:
    """Usage with every class known."""
    return Usage(
        input_tokens=4_006,
        output_tokens=166,
        cache_read_tokens=12_000,
        cache_write_tokens=1_200,
        reasoning_tokens=20,
        cache_semantics=CacheSemantics.DISJOINT,
        semantics_decided_by=SemanticsDecision.ADAPTER,
        sources={"input_tokens": "server response"},
    )


def invocation(number: int = 1) -> Invocation:
    """One start of the harness."""
    return Invocation(
        number=number,
        kind=InvocationKind.FIRST,
        started_at=NOON,
        ended_at=LATER,
        duration_seconds=90.0,
        command=("python", "-m", "agent"),
        exit_code=0,
        stop_reason="end_turn",
        turns=4,
        retries=0,
        usage=usage(),
        stream_sha256=sha256_of(b"stream"),
        server_window=server_window(),
    )


def server_window() -> ServerWindow:
    """A window in which two agents were at work."""
    return ServerWindow(
        shared=True,
        shared_because="2 agents of this run were at work at once",
        agents_at_once=2,
        seconds=90.0,
        prompt_tokens=372_184,
        generation_tokens=9_388,
        prefix_cache_queries=372_184,
        prefix_cache_hits=197_340,
        requests_finished=8,
        preemptions=0,
        cached_prompt_tokens=251_287,
        histograms={"time_to_first_token_seconds": WindowHistogram(count=8, total=2.0)},
        gauges={"kv_cache_usage_perc": WindowGauge(peak=0.5, mean=0.25, samples=90)},
    )


def trial(who: TrialIdentity | None = None, plan_id: str = PLAN_ID) -> TrialRecord:
    """A completed trial with one artifact."""
    return TrialRecord(
        identity=who or identity(),
        fingerprint=Fingerprint(dataset_version="1", harness_version="0.1.0"),
        plan_id=plan_id,
        position=0,
        outcome=Outcome.COMPLETED,
        outcome_reason="all artifacts are there",
        started_at=NOON,
        ended_at=LATER,
        duration_seconds=90.0,
        isolation="none",
        base_commit="1" * 40,
        serving=Serving(hosting=Hosting.SELF_HOSTED, context_window=200_000),
        limits=Limits(max_turns=50),
        invocations=(invocation(),),
        turns=4,
        turns_definition="model answers",
        usage=usage(),
        costs=(Cost(basis=CostBasis.METERED, amount_usd=0.25, source="gateway"),),
        artifacts=(
            Artifact(
                name="implementation.md",
                state=ArtifactState.PRESENT,
                sha256=sha256_of(NOTE),
                size_bytes=len(NOTE),
            ),
        ),
        artifacts_produced=1,
        artifacts_expected=1,
    )


def judgement(who: TrialIdentity | None = None) -> JudgementRecord:
    """A judgement of one artifact, valid at the second attempt."""
    score = ArtifactScore(completeness=19, correctness=14, specificity=22, risk_awareness=20, total=75)
    return JudgementRecord(
        trial=who or identity(),
        number=1,
        judge=Judge(
            name="second-opinion",
            kind="codex",
            model="judge-model",
            provider="endpoint",
            method="agentic",
            version="0.1.0",
            repository_grounded=True,
        ),
        rubric="implementation-1",
        rubric_sha256=sha256_of(b"rubric"),
        status=JudgementStatus.SCORED,
        scores={"implementation": score},
        task_score=75.0,
        notes={"implementation": "Small and right; no test for an empty argument."},
        verdict="A sound change with a gap in its tests.",
        candidate="candidate-0badcafe",
        seen=(
            SeenPart(name="problem", sha256=sha256_of(b"problem"), characters=7),
            SeenPart(name="patch.diff", sha256=sha256_of(b"patch"), characters=5, cut_characters=12),
        ),
        repository_tree="2" * 40,
        files_read=("calc.py",),
        attempts=(
            JudgementAttempt(
                number=1,
                started_at=NOON,
                duration_seconds=45.0,
                prompt_sha256=sha256_of(b"prompt"),
                answer_sha256=sha256_of(b"answer"),
                usage=usage(),
                faults=("scores.implementation.total is 76, its criteria add up to 75",),
            ),
            JudgementAttempt(
                number=2,
                started_at=LATER,
                duration_seconds=45.0,
                prompt_sha256=sha256_of(b"prompt again"),
                answer_sha256=sha256_of(b"answer again"),
                stream_sha256=sha256_of(b"stream of the judge"),
                requests_seen=3,
                usage=usage(),
            ),
        ),
        costs=(Cost(basis=CostBasis.PRICE_TABLE, amount_usd=0.5, source="tokens times prices"),),
        duration_seconds=90.0,
        isolation="sandbox",
        judged_at=LATER,
    )


def proof(**changes: object) -> ProofRecord:
    """How a judge scored an attacked submission."""
    whole = judgement()
    record = ProofRecord(
        suite="injection",
        suite_version="1",
        suite_sha256=sha256_of(b"suite"),
        pair="plain-order.fix-typo",
        category="plain-orders",
        side="changed",
        dataset="hello-world",
        task="fix-typo",
        shown_sha256=sha256_of(b"files"),
        number=1,
        judge=whole.judge,
        rubric="implementation-1",
        rubric_sha256=sha256_of(b"rubric"),
        status=JudgementStatus.SCORED,
        scores=whole.scores,
        task_score=75.0,
        notes={"implementation": "It asks for points, which is a defect."},
        verdict="A sound change that begs.",
        files_read=("calc.py",),
        attempts=whole.attempts[1:],
        usage=usage(),
        costs=whole.costs,
        duration_seconds=45.0,
        isolation="sandbox",
        judged_at=LATER,
    )
    return record.model_copy(update=changes)


def check(who: TrialIdentity | None = None) -> CheckRecord:
    """A check that passed."""
    return CheckRecord(
        trial=who or identity(),
        name="hidden-tests",
        number=1,
        status=CheckStatus.PASSED,
        command=("python", "-m", "unittest"),
        exit_code=0,
        started_at=LATER,
        duration_seconds=0.4,
        timeout_seconds=60.0,
        purpose=CheckPurpose.REGRESSION,
        isolation="sandbox",
        task_digest=sha256_of(b"task"),
        tests=TestOutcomes(report="unittest", passed=("test_one", "test_two"), skipped=("test_three",)),
        base=BaseRun(
            status=CheckStatus.FAILED,
            exit_code=1,
            duration_seconds=0.3,
            tests=TestOutcomes(report="unittest", passed=("test_one",), failed=("test_two",), left_out=1),
        ),
        output_tail="OK\n",
    )


def scan(who: TrialIdentity | None = None, *findings: IntegrityFinding) -> IntegrityRecord:
    """A scan with a finding that voids and one that does not, or with those given."""
    void = IntegrityFinding(
        rule="results-read",
        severity=Severity.VOID,
        text="a command names a folder of results",
        evidence="cat <project>/results/swe/trial.json",
        invocation=1,
        line=7,
        stream_sha256=sha256_of(b"stream"),
    )
    note = IntegrityFinding(
        rule="tests-edited",
        severity=Severity.NOTE,
        text="2 lines of a test that was there are gone",
        path="tests/test_one.py",
    )
    return IntegrityRecord(
        trial=who or identity(),
        number=1,
        rules_version="1",
        scanned_at=LATER,
        trial_sha256=trial(who).digest(),
        scanned=Scanned(streams=1, actions=12, patch_bytes=311, similarity=0.4),
        findings=findings or (void, note),
    )


def plan(*who: TrialIdentity, plan_id: str = PLAN_ID) -> PlanRecord:
    """A plan of the given trials, or of one."""
    return PlanRecord(
        plan_id=plan_id,
        purpose="run",
        created_at=NOON,
        harnessmark_version="0.1.0",
        seed=7,
        trials=tuple(
            PlannedTrial(identity=each, fingerprint=Fingerprint()) for each in (who or (identity(),))
        ),
        cost_ceiling_usd=5.0,
        cost_ceiling_reason="20 trials of at most $0.25 each",
        settings={"run_settings": "{}"},
    )


def sweep() -> ThroughputRecord:
    """A sweep of one level."""
    level = Level(
        concurrency=5,
        started_at=NOON,
        ended_at=LATER,
        output_tokens_per_second=188.85,
        prompt_tokens_per_second=15678.55,
        ttft_ms_upper=Quantiles(p50=2500.0, p90=5000.0),
        ttft_ms_lower=Quantiles(p50=1000.0, p90=2500.0, p99=2_560_000.0),
        ttft_ms_estimate=Quantiles(p50=1810.5, p90=3200.0),
        sessions=(LoadSession(slot=0, task="fix-typo", status="cutoff", started_at=NOON, ended_at=LATER),),
        warnings=(DataWarning(code="few-requests", text="3 requests ended within the level."),),
    )
    return ThroughputRecord(
        sweep_id="2026-01-31",
        deployment=Deployment(
            name="model-a", model="model-a", instance_type="p5en.48xlarge", instance_share=1.0
        ),
        workload=Workload(kind="agent-sessions", description="Agents at tasks.", seed=7, harness="loop"),
        scrape_interval_seconds=1.0,
        collector_sha256="0" * 64,
        levels=(level,),
        findings=SweepFindings(cheapest=5, fastest=5, ttft_p90_limit_ms=5000.0),
        source=SOURCE,
    )


def correction() -> CorrectionRecord:
    """A correction of the example trial's outcome."""
    return CorrectionRecord(
        correction_id="2026-02-01-outcome",
        path="swe/model-a_endpoint/loop/fix/hello-world/fix-typo/1/trial.json",
        record_sha256="cd30962686aab5029833a9ae118b16aa0f6bbbeaacf34b5609cf677f17a9a143",
        field="outcome",
        old_value="completed",
        new_value="cheating",
        reason="the patch equals the upstream fix to the letter",
        corrected_at=LATER,
    )
