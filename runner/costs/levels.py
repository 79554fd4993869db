"""Levels: which concurrency of a sweep is cheapest, which fastest, and from where on a server only queues."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from runner.costs.hardware import NO_LIMIT, LatencyLimit
from runner.records import Level, SweepFindings

FLAT_GAIN = 0.05
"""A rise of all tokens per second that is below this share is none."""
WAITING_MATTERS = 0.5
"""Requests that wait on average, from which on there is a queue."""
FULL_CACHE = 0.99


def total_rate(level: Level) -> float | None:
    """Tokens of all kinds per second; None where one kind is unknown or nothing flowed.

    Dollars per token are dollars per second over this, so the level with most is the cheapest at any price
    of the machine. Source: specification 5.6.
    """
    prompt, output = level.prompt_tokens_per_second, level.output_tokens_per_second
    return prompt + output if prompt is not None and output is not None and prompt + output > 0 else None


def cheapest(levels: Sequence[Level], limit: LatencyLimit = NO_LIMIT) -> Level | None:
    """The level with the most tokens of all kinds per second among those that keep ``limit``.

    Of equal ones the lower concurrency; None where no level has both rates, or none keeps the limit.
    """
    rated = [
        (rate, each) for each in levels if (rate := total_rate(each)) is not None and limit.kept_by(each)
    ]
    return max(rated, key=lambda pair: (pair[0], -pair[1].concurrency))[1] if rated else None


def fastest(levels: Sequence[Level]) -> Level | None:
    """The level with the most output tokens per second; of equal ones the lower concurrency."""
    rated = [each for each in levels if each.output_tokens_per_second]
    return max(
        rated, key=lambda each: (each.output_tokens_per_second or 0.0, -each.concurrency), default=None
    )


def saturation(levels: Sequence[Level]) -> tuple[Level, str] | None:
    """The first level from which on more sessions only wait, and how that is seen; None where none is.

    Either the key-value cache was full while requests waited, or all tokens per second rose by less than
    5 % over the level before while more requests waited than there.
    """
    ordered = sorted(levels, key=lambda each: each.concurrency)
    for each in ordered:
        peak = each.kv_cache_usage.peak if each.kv_cache_usage else None
        waiting = _waiting(each)
        if peak is not None and peak >= FULL_CACHE and waiting is not None and waiting >= WAITING_MATTERS:
            return each, f"the key-value cache was full ({peak:.0%}) while {waiting:.1f} requests waited"
        if (before := _level_before(ordered, each)) is not None and _is_flat(before, each):
            gain = (total_rate(each) or 0.0) / (total_rate(before) or 1.0) - 1
            return each, (
                f"from {before.concurrency} to {each.concurrency} sessions all tokens a second changed by "
                f"{gain:+.1%}, and waiting requests went from {_waiting(before) or 0.0:.1f} to {waiting:.1f}"
            )
    return None


def _level_before(ordered: Sequence[Level], level: Level) -> Level | None:
    return next((before for before, after in pairwise(ordered) if after is level), None)


def _is_flat(before: Level, after: Level) -> bool:
    rates, queues = (total_rate(before), total_rate(after)), (_waiting(before), _waiting(after))
    if rates[0] is None or rates[1] is None or queues[0] is None or queues[1] is None:
        return False
    grows = queues[1] >= WAITING_MATTERS and queues[1] > queues[0]
    return grows and rates[1] < rates[0] * (1 + FLAT_GAIN)


def _waiting(level: Level) -> float | None:
    return level.requests_waiting.mean if level.requests_waiting else None


def findings_of(levels: Sequence[Level], limit: LatencyLimit = NO_LIMIT) -> SweepFindings:
    """Everything above of a sweep. Without a limit no level is named as keeping it."""
    cheap, fast, full = cheapest(levels), fastest(levels), saturation(levels)
    within = cheapest(levels, limit) if limit != NO_LIMIT else None
    return SweepFindings(
        cheapest=None if cheap is None else cheap.concurrency,
        fastest=None if fast is None else fast.concurrency,
        ttft_p90_limit_ms=limit.ttft_p90_ms,
        tpot_mean_limit_ms=limit.tpot_mean_ms,
        within_limit=None if within is None else within.concurrency,
        saturated_from=None if full is None else full[0].concurrency,
        saturation=None if full is None else full[1],
    )
