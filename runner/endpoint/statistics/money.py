"""Money: what requests cost, what is not known of it, and what a right answer cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from runner.endpoint.result import ReportedUsage
from runner.endpoint.statistics.outcomes import GIVEN_UP, OURS
from runner.records.bench_figures import Money, Tokens
from runner.records.bench_manifest import BenchPrice
from runner.records.bench_trial import BenchRequest, BenchTrial

MILLION = 1_000_000
BYTES_PER_TOKEN = 2
COMPARED_FROM_TOKENS = 32
LEAST_CHARACTERS, MOST_CHARACTERS = 0.5, 16.0
"""Per token. Text of every language and numbers lie well inside; what lies outside was counted otherwise."""
DECIMALS = 9


def request_cost(usage: ReportedUsage | None, price: BenchPrice) -> tuple[float | None, str | None]:
    """US dollars of one request, and why they are not known where they are not.

    ``uncached x input + cached x cache_read + written x cache_write + output x output + per request``, each
    price per million tokens. Output includes reasoning. Where the cached part is not told, none is assumed,
    which gives an upper bound; prompts begin with a nonce, so that little is cached. Source: measurement
    contract of the endpoint benchmark, section 19.
    """
    if price.missing_reason is not None or price.input is None or price.output is None:
        return None, price.missing_reason or "the price book has no price"
    if usage is None or usage.prompt_tokens is None or usage.output_tokens is None:
        return None, "the endpoint told no token counts"
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    if cached and price.cache_read is None:
        return None, "cached input has no price"
    if written and price.cache_write is None:
        return None, "writing to the cache has no price"
    fresh = max(0, usage.prompt_tokens - cached - written)
    dollars = (
        fresh * price.input
        + cached * (price.cache_read or 0.0)
        + written * (price.cache_write or 0.0)
        + usage.output_tokens * price.output
    ) / MILLION + (price.per_request or 0.0)
    return round(dollars, DECIMALS), None


def money(
    trials: Sequence[BenchTrial],
    solved: int,
    attempts: int,
    *,
    alike: Sequence[BenchTrial] | None = None,
    cut: int = 0,
) -> Money:
    """All that a group of trials cost. What the unsolved ones cost is part of the cost per solved.

    Args:
        alike: those of ``trials`` that ``solved`` and ``attempts`` count, where these are not all: their own
            money is what is divided, so that no kind of case pays for the right answers of another.
        cut: requests that were given up in flight. The total is unknown with them; they belong to no attempt,
            so that what an attempt cost is not.
    """
    divided = None if alike is None or len(alike) == len(trials) else money(alike, solved, attempts)
    requests = [request for trial in trials for request in trial.requests if request.outcome not in OURS]
    known = [request.cost_usd for request in requests if request.cost_usd is not None]
    missing = Counter(request.cost_missing or "unknown" for request in requests if request.cost_usd is None)
    total = sum(known) if requests and not missing else None
    missing += Counter({GIVEN_UP: cut} if cut else {})
    reported = [request.cost_reported_usd for request in requests]
    told = [each for each in reported if each is not None]
    return Money(
        total_usd=None if total is None or cut else round(total, DECIMALS),
        known_usd=round(sum(known), DECIMALS),
        requests=len(requests) + cut,
        priced_requests=len(known),
        unknown=dict(sorted(missing.items())),
        reported_usd=round(sum(told), DECIMALS) if told and len(told) == len(reported) else None,
        per_attempt_usd=_per(total, attempts) if divided is None else divided.per_attempt_usd,
        per_solved_usd=_per(total, solved) if divided is None else divided.per_solved_usd,
        solved=solved,
        attempts=attempts,
    )


def _per(total: float | None, count: int) -> float | None:
    return total / count if total is not None and count else None


def tokens(requests: Iterable[BenchRequest]) -> Tokens:
    """Sums of what requests tell of their tokens. A sum is None where none tells it."""
    every = [request for request in requests if request.outcome not in OURS]
    usages = [request.usage for request in every if request.usage is not None]
    thinking = [
        (usage.reasoning_tokens, usage.output_tokens)
        for usage in usages
        if usage.reasoning_tokens is not None and usage.output_tokens
    ]
    caching = [
        (usage.cached_tokens, usage.prompt_tokens)
        for usage in usages
        if usage.cached_tokens is not None and usage.prompt_tokens
    ]
    texts = [pair for request in every if (pair := _text_and_tokens(request)) is not None]
    ratios = [characters / told for characters, told in texts]
    return Tokens(
        prompt=_sum(usage.prompt_tokens for usage in usages),
        cached=_sum(usage.cached_tokens for usage in usages),
        output=_sum(usage.output_tokens for usage in usages),
        reasoning=_sum(usage.reasoning_tokens for usage in usages),
        reasoning_share=_share(thinking),
        cached_share=_share(caching),
        told_by=sum(None not in (usage.prompt_tokens, usage.output_tokens) for usage in usages),
        of=len(every),
        characters_per_token=_share(texts),
        compared=len(texts),
        misfits=sum(not LEAST_CHARACTERS <= each <= MOST_CHARACTERS for each in ratios),
    )


def at_most(request: BenchRequest, price: BenchPrice) -> float:
    """Dollars that a request can hardly have cost more than; what it cost where that is known.

    For budgets alone and in no figure: an endpoint that tells no token counts would spend without end if an
    unknown cost were none. Every 2 bytes that were sent and every 2 characters that came count as a token,
    which is more than tokenizers make of any common language. Nobody bills what a status of 4xx refused.
    """
    if request.cost_usd is not None:
        return request.cost_usd
    refused = request.http_status is not None and 400 <= request.http_status < 500
    if refused or request.outcome in OURS or price.input is None or price.output is None:
        return 0.0
    characters = sum(each[2] for each in request.fragments)
    sent, received = request.bytes_sent / BYTES_PER_TOKEN, characters / BYTES_PER_TOKEN
    return (sent * price.input + received * price.output) / MILLION + (price.per_request or 0.0)


def _text_and_tokens(request: BenchRequest) -> tuple[int, int] | None:
    """Visible characters, and the visible tokens that the endpoint tells; None where both say little.

    Both are kept apart: the endpoint's count is what is billed and what speeds are made of, and ours is the
    only thing to hold against it. Calls of tools are left out, as what is told of them has other words.
    """
    usage = request.usage
    if usage is None or usage.output_tokens is None or request.tool_call_count or request.outcome != "ok":
        return None
    told = usage.output_tokens - (usage.reasoning_tokens or 0)
    if told < COMPARED_FROM_TOKENS or len(request.fragments) < request.fragment_count:
        return None
    return sum(each[2] for each in request.fragments if each[1] == "c"), told


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _share(pairs: Sequence[tuple[int, int]]) -> float | None:
    whole = sum(of for _, of in pairs)
    return sum(part for part, _ in pairs) / whole if whole else None
