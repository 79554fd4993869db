"""Tokens: all that a model processed, the classes they are billed in, and how imported counts are read."""

from __future__ import annotations

from typing import NamedTuple

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


class TokenClasses(NamedTuple):
    """The classes that are billed, each token in exactly one of them; None is an unknown count."""

    fresh: int | None
    read: int | None
    write: int | None
    output: int | None

    @property
    def whole(self) -> tuple[int, int, int, int] | None:
        """All four counts, in the order of the fields; None where one of them is unknown."""
        fresh, read, write, output = self
        if fresh is None or read is None or write is None or output is None:
            return None
        return fresh, read, write, output


NO_CLASSES = TokenClasses(None, None, None, None)


def token_classes(usage: Usage | None) -> TokenClasses:
    """Fresh input, cache reads, cache writes and output of ``usage``.

    Fresh input is the input as it stands where counts are disjoint, and without its cached part where they
    are a partition. Where nobody told which of both holds, nothing is known. Source: specification 5.5.
    """
    if usage is None or usage.cache_semantics is CacheSemantics.UNKNOWN:
        return NO_CLASSES
    fresh, read, write = usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens
    if usage.cache_semantics is CacheSemantics.PARTITION and fresh is not None:
        fresh = None if read is None or write is None else max(fresh - read - write, 0)
    return TokenClasses(fresh, read, write, usage.output_tokens)


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
