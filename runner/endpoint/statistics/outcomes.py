"""Outcomes: classes of requests, grouped as the rates of a summary need them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from runner.endpoint.result import ANSWERED as ANSWERED_OUTCOMES
from runner.endpoint.result import Outcome
from runner.endpoint.statistics.intervals import rate
from runner.records.bench_figures import RateFigure, Reliability
from runner.records.bench_trial import BenchRequest
from runner.records.nouns import counted

ANSWERED = frozenset(outcome.value for outcome in ANSWERED_OUTCOMES)
OURS = frozenset({Outcome.CANCELLED.value, Outcome.HARNESS_ERROR.value, Outcome.SKIPPED_BUDGET.value})
"""Classes that say nothing of the endpoint."""
GIVEN_UP = "given up in flight"
"""Why a trial that was sent has no result: the user did not wait for it. Resuming makes it again."""
TIMED_OUT = frozenset(
    outcome.value
    for outcome in (
        Outcome.TIMEOUT_CONNECT,
        Outcome.TIMEOUT_HEADERS,
        Outcome.TIMEOUT_STALL,
        Outcome.TIMEOUT_TOTAL,
    )
)


def cut_words(requests: int) -> str:
    """What is to be said of so many requests that were given up in flight."""
    return f"{counted(requests, 'request')} cut in flight; what they cost is unknown"


def is_answered(request: BenchRequest) -> bool:
    """Whether the endpoint brought it to an end of its own: ok, length or refused."""
    return request.outcome in ANSWERED


def reliability(requests: Sequence[BenchRequest]) -> Reliability:
    """How requests ended. Those that we ourselves gave up are counted and are in no rate."""
    sent = [request for request in requests if request.outcome not in OURS]

    def share(*outcomes: Outcome) -> RateFigure:
        """The share of requests that ended in one of ``outcomes``."""
        return _share(sent, lambda request: request.outcome in outcomes)

    responded = [request for request in sent if request.streamed is not None]
    answered = [request for request in sent if is_answered(request)]
    told = [request for request in answered if request.timing.buffered is not None]
    return Reliability(
        requests=len(sent),
        outcomes=_counted(request.outcome for request in requests),
        failures=_counted(request.failure.code for request in requests if request.failure is not None),
        answered=rate(len(answered), len(sent)),
        succeeded=share(Outcome.OK),
        rate_limited=share(Outcome.RATE_LIMITED),
        timed_out=_share(sent, lambda request: request.outcome in TIMED_OUT),
        truncated=share(Outcome.LENGTH, Outcome.INCOMPLETE),
        incomplete=share(Outcome.INCOMPLETE),
        malformed=share(Outcome.PARSE_ERROR),
        broken_stream=share(Outcome.STREAM_ERROR),
        refused=share(Outcome.REFUSED),
        http_error=share(Outcome.HTTP_ERROR),
        empty=_share(sent, _is_empty),
        buffered=_share(told, lambda request: request.timing.buffered is True),
        usage_missing=_share(answered, lambda request: not _tells_usage(request)),
        not_streamed=_share(responded, lambda request: request.streamed is False),
        other_model=_counted(request.model_reported for request in responded if request.model_reported),
    )


def _share(requests: Sequence[BenchRequest], holds: Callable[[BenchRequest], bool]) -> RateFigure:
    return rate(sum(holds(request) for request in requests), len(requests))


def _is_empty(request: BenchRequest) -> bool:
    return is_answered(request) and not request.fragment_count and not request.tool_call_count


def _tells_usage(request: BenchRequest) -> bool:
    usage = request.usage
    return usage is not None and usage.prompt_tokens is not None and usage.output_tokens is not None


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
