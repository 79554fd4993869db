"""Recording: from what was measured to the record of a trial, with or without what a model said."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from runner.endpoint.result import FragmentKind, StreamResult
from runner.endpoint.statistics.money import request_cost
from runner.endpoint.suites.case import Case, Slot
from runner.endpoint.suites.coding.trace import CUT_BY, AgentTrace
from runner.endpoint.suites.playing import Played
from runner.endpoint.suites.score import CaseScore
from runner.endpoint.timing import between, timing
from runner.records.bench_manifest import BenchPrice
from runner.records.bench_trial import (
    BenchAgent,
    BenchFailure,
    BenchRequest,
    BenchScore,
    BenchTiming,
    BenchToolCall,
    BenchTrial,
    BenchUsage,
    LoadPlace,
)

LETTERS: dict[FragmentKind, Literal["r", "c", "t", "f"]] = {
    FragmentKind.REASONING: "r",
    FragmentKind.CONTENT: "c",
    FragmentKind.TOOL: "t",
    FragmentKind.REFUSAL: "f",
}
MAX_MESSAGE = 500
_PLAIN_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,59}")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@ -]{0,119}")


@dataclass(frozen=True)
class Keeping:
    """Whether what models say is kept.

    Args:
        mark_key: where it is not, answers are replaced by marks made with this key, so that equal answers
            can still be told; whoever does not have the key cannot find an answer by trying.
    """

    responses: bool = True
    mark_key: bytes = b""

    def mark(self, answer: str | None) -> str | None:
        """The mark of an answer."""
        if answer is None:
            return None
        return hmac.new(self.mark_key, answer.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:16]


@dataclass(frozen=True)
class Entry:
    """What is known of a trial besides what came of it."""

    run_id: str
    key: str
    target: str
    started_at: datetime
    finished_at: datetime
    price: BenchPrice
    load: LoadPlace | None = None
    epoch_ns: int | None = None
    """Where the offsets of requests count from; None: the first request itself."""


def trial_record(played: Played, entry: Entry, keeping: Keeping) -> BenchTrial:
    """The record of a trial that was asked."""
    epoch = entry.epoch_ns
    if epoch is None and played.results:
        epoch = played.results[0].milestones.sent
    requests = tuple(
        request_record(result, entry.price, keeping, epoch_ns=epoch) for result in played.results
    )
    agent = played.agent
    if agent is not None and not keeping.responses:
        agent = agent.without_texts()
    is_cut = agent is not None and agent.stop_reason in CUT_BY
    skipped = played.score.reason if is_cut or not requests else None
    costs = [request.cost_usd for request in requests]
    known = [cost for cost in costs if cost is not None]
    return BenchTrial(
        **_identity(played.case, played.slot, played.seed, entry),
        skipped=skipped,
        outcome=requests[-1].outcome if skipped is None else None,
        score=score_record(played.score, keeping),
        requests=requests,
        agent=None if agent is None else agent_record(agent),
        load=entry.load,
        adjustments=played.adjustments,
        cost_usd=round(sum(known), 9) if costs and len(known) == len(costs) else None,
        responses_kept=keeping.responses,
    )


def skipped_record(
    case: Case, slot: Slot, seed: int, entry: Entry, reason: str, *, cut: int = 0
) -> BenchTrial:
    """The record of a trial that was planned and has no result: never asked, or given up.

    Args:
        cut: how many requests of it had been sent.
    """
    return BenchTrial(
        **_identity(case, slot, seed, entry),
        skipped=reason,
        outcome=None,
        score=BenchScore(verdict="skipped", value=None, reason=reason),
        load=entry.load,
        cut_requests=cut,
    )


def _identity(case: Case, slot: Slot, seed: int, entry: Entry) -> dict[str, Any]:
    return {
        "run_id": entry.run_id,
        "key": entry.key,
        "target": entry.target,
        "case": case.identifier,
        "case_kind": case.kind.value,
        "slot": slot.label,
        "run": slot.run,
        "repeat": slot.repeat,
        "warm_up": slot.warm_up,
        "seed": seed,
        "started_at": entry.started_at,
        "finished_at": entry.finished_at,
    }


def request_record(
    result: StreamResult, price: BenchPrice, keeping: Keeping, *, epoch_ns: int | None = None
) -> BenchRequest:
    """One request. Without responses nothing stays that a model may have written."""
    cost, missing = request_cost(result.usage, price)
    sent = result.milestones.sent
    keep = keeping.responses
    return BenchRequest(
        outcome=result.outcome.value,
        failure=_failure(result, keep=keep),
        started_at=result.started_at,
        offset_ms=_rounded(between(epoch_ns, sent)),
        http_status=result.http_status,
        finish_reason=_plain(result.finish_reason, keep=keep),
        ended_cleanly=result.ended_cleanly,
        streamed=result.streamed,
        connection_reused=result.connection_reused,
        model_reported=_plain(result.model_reported, keep=keep),
        request_id=_plain(result.request_id, keep=keep),
        retry_after_seconds=result.retry_after_seconds,
        paced_ms=round(result.paced_ms, 3),
        timing=timing_record(result),
        usage=_usage(result),
        cost_usd=cost,
        cost_missing=missing,
        cost_reported_usd=None if result.usage is None else result.usage.cost_usd,
        bytes_sent=result.bytes_sent,
        bytes_received=result.bytes_received,
        reads=result.reads,
        events=result.events,
        transport=result.transport,
        loop_lag_ms=_rounded(result.loop_lag_ms),
        fragments=tuple(
            (
                round(between(sent, each.at_ns) or 0.0, 3),
                LETTERS[each.kind],
                each.characters,
                each.tokens,
            )
            for each in result.fragments
        ),
        fragment_count=len(result.fragments),
        tool_call_count=len(result.tool_calls),
        text=result.text if keep else "",
        reasoning=result.reasoning if keep else "",
        refusal=result.refusal if keep else "",
        tool_calls=tuple(call.model_dump(mode="json") for call in result.tool_calls) if keep else (),
    )


def timing_record(result: StreamResult) -> BenchTiming:
    """The figures of a request, to the microsecond."""
    found = timing(result).model_dump(exclude={"gaps"})
    gaps = timing(result).gaps
    rounded: dict[str, Any] = {
        name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()
    }
    return BenchTiming(
        **rounded,
        gap_count=gaps.count,
        gap_p50_ms=_rounded(gaps.p50),
        gap_p95_ms=_rounded(gaps.p95),
        gap_max_ms=_rounded(gaps.max),
    )


def score_record(score: CaseScore, keeping: Keeping) -> BenchScore:
    """The score; without responses the answer is a mark, and the reason, which may quote it, is gone."""
    keep = keeping.responses
    return BenchScore(
        verdict=score.verdict.value,
        value=score.value,
        reason=score.reason if keep else "",
        answer=score.answer if keep else None,
        answer_mark=None if keep else keeping.mark(score.answer),
        expected=score.expected,
        confidence=score.confidence,
        metrics=dict(score.metrics),
    )


def agent_record(trace: AgentTrace) -> BenchAgent:
    """What an agent did."""
    return BenchAgent(
        stop_reason=trace.stop_reason.value,
        turns=trace.turn_count,
        tool_calls=trace.tool_call_count,
        invalid_calls=trace.invalid_call_count,
        no_progress_calls=trace.no_progress_call_count,
        test_runs=trace.test_runs,
        self_verified=trace.self_verified,
        wall_seconds=round(trace.wall_seconds, 6),
        tool_seconds=round(trace.tool_seconds, 6),
        prompt_tokens=trace.prompt_tokens,
        output_tokens=trace.output_tokens,
        limits_not_kept=trace.limits_not_kept,
        calls=tuple(
            BenchToolCall(
                turn=call.turn,
                name=call.name,
                arguments=call.arguments,
                ok=call.ok,
                no_progress=call.no_progress,
                seconds=round(call.seconds, 6),
                detail=call.detail,
            )
            for call in trace.invocations
        ),
    )


def _failure(result: StreamResult, *, keep: bool) -> BenchFailure | None:
    """An endpoint's own code and words may hold what a model said: without responses they go."""
    failure = result.failure
    if failure is None:
        return None
    code = failure.code if _PLAIN_CODE.fullmatch(failure.code) else "other"
    message = failure.message[:MAX_MESSAGE] if keep else ""
    return BenchFailure(code=code, message=message, phase=failure.phase.value)


def _plain(word: str | None, *, keep: bool) -> str | None:
    """A word of the endpoint's; without responses only where it looks like a name."""
    if word is None:
        return None
    if keep:
        return word[:MAX_MESSAGE]
    return word if _PLAIN_NAME.fullmatch(word) else "other"


def _usage(result: StreamResult) -> BenchUsage | None:
    usage = result.usage
    if usage is None:
        return None
    return BenchUsage(
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        reasoning_is_extra=usage.reasoning_is_extra,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
