"""Tokens processed: one definition, and the rule that reads imported cache counts."""

from __future__ import annotations

from runner.records import CacheSemantics, SemanticsDecision, Usage

DECLARED_DISJOINT = frozenset({"codex", "strands"})
"""Harnesses whose source declares that input holds fresh tokens only."""

BAND = 20
"""Cache within one twentieth (5 %) of the input is taken for a partition of it, edges included."""


def tokens_processed(usage: Usage | None) -> int | None:
    """All tokens a model read or wrote, each counted once.

    Disjoint counts: input + output + cache read + cache write. Partition: input + output, because input
    holds the cached part already. A count that the sum needs and that is unknown makes it unknown.
    Source: specification 5.1. For several tasks add up the results; never classify a sum (T-04).
    """
    if usage is None or usage.cache_semantics is CacheSemantics.UNKNOWN:
        return None
    parts = [usage.input_tokens, usage.output_tokens]
    if usage.cache_semantics is CacheSemantics.DISJOINT:
        parts += [usage.cache_read_tokens, usage.cache_write_tokens]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def classify(
    harness: str,
    input_tokens: int | None,
    output_tokens: int | None,
    cache_read_tokens: int | None,
    cache_write_tokens: int | None,
) -> tuple[CacheSemantics, SemanticsDecision]:
    """How to read the counts of one imported task, and who decided it.

    A declared harness is disjoint, even where the cache happens to equal the input. Otherwise the ratio
    rule: a cache of more than 0 that lies within 5 % of the input is a partition of it, anything else comes
    on top. Where a count is missing nothing can be decided. Only for imported data: an adapter knows.
    """
    if harness in DECLARED_DISJOINT:
        return CacheSemantics.DISJOINT, SemanticsDecision.DECLARED
    if input_tokens is None or output_tokens is None:
        return CacheSemantics.UNKNOWN, SemanticsDecision.NONE
    if cache_read_tokens is None or cache_write_tokens is None:
        return CacheSemantics.UNKNOWN, SemanticsDecision.NONE
    cache = cache_read_tokens + cache_write_tokens
    if input_tokens > 0 and cache > 0 and abs(cache - input_tokens) * BAND <= input_tokens:
        return CacheSemantics.PARTITION, SemanticsDecision.RATIO_RULE
    return CacheSemantics.DISJOINT, SemanticsDecision.RATIO_RULE
