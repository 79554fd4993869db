"""Usage of an imported task: which counts are known, and how its cache counts are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner.costs.tokens import classify, tokens_processed
from runner.importers.published.document import RunDocument, TaskRow
from runner.records import CacheSemantics, DataWarning, SemanticsDecision, Usage

ORIGIN = "task row of the source"
COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def usage_of(run: RunDocument, row: TaskRow) -> Usage | None:
    """Known counts of ``row`` with their meaning, decided for this task alone; None where nothing is known.

    No input and no output means not reported, not zero use. A self-hosted row without cache counts, or
    with zeros beside a hit rate above 0, has unknown cache counts: the source's own total, input + output,
    says that input holds the whole prompt. Everything else is read by the rule of specification 5.1.
    """
    if row.input_tokens == 0 and row.output_tokens == 0:
        return None
    read, write = row.cache_read_tokens, row.cache_write_tokens
    semantics, decided_by = classify(run.harness, row.input_tokens, row.output_tokens, read, write)
    if run.provider == "endpoint" and cache_counts_unknown(row):
        read = write = None
        semantics, decided_by = CacheSemantics.PARTITION, SemanticsDecision.SOURCE_TOTAL
    values = dict(zip(COUNTS, (row.input_tokens, row.output_tokens, read, write), strict=True))
    return Usage(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=write,
        cache_semantics=semantics,
        semantics_decided_by=decided_by,
        sources={name: ORIGIN for name, value in values.items() if value is not None},
    )


def cache_counts_unknown(row: TaskRow) -> bool:
    """Whether the cache counts are absent, or zeros that the hit rate contradicts."""
    counts = (row.cache_read_tokens, row.cache_write_tokens)
    if row.total_tokens != row.input_tokens + row.output_tokens:
        return False
    return counts == (None, None) or (counts == (0, 0) and bool(row.prefix_cache_hit_rate))


def turns_of(row: TaskRow) -> int | None:
    """Turns as the harness reported them; 0 means not reported."""
    return row.num_turns or None


def usage_warnings(run: RunDocument, row: TaskRow, usage: Usage | None) -> list[DataWarning]:
    """What a reader must know about the counts of one task."""
    found = []
    if usage is None:
        found.append(
            DataWarning(
                code="tokens-not-reported",
                text="The source prints 0 for every token count of this task.",
            )
        )
    if row.num_turns == 0:
        found.append(DataWarning(code="turns-not-reported", text="The source prints 0 turns."))
    if run.provider == "endpoint" and row.cache_read_tokens == 0 and cache_counts_unknown(row):
        found.append(
            DataWarning(
                code="cache-counters-not-reported",
                text="Cache read and write are printed as 0 beside a hit rate of "
                f"{row.prefix_cache_hit_rate}; they are taken as unknown, and input as the whole prompt.",
            )
        )
    processed = tokens_processed(usage)
    if processed is not None and row.total_tokens != processed:
        found.append(
            DataWarning(
                code="total-counts-cache-twice",
                text=f"The source's total is {row.total_tokens} tokens; counting each token once gives "
                f"{processed}.",
            )
        )
    if row.token_accounting_repair is not None:
        found.append(
            DataWarning(code="tokens-repaired", text="The source replaced token counts of this task later.")
        )
    return found


def mixed_semantics(usages: Sequence[Usage | None]) -> DataWarning | None:
    """A warning for every task of a run in which cached tokens are counted in several ways."""
    kinds = Counter(usage.cache_semantics.value for usage in usages if usage is not None)
    if len(kinds) < 2:
        return None
    shown = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return DataWarning(
        code="mixed-semantics",
        text=f"Cached tokens of this run's tasks are counted in several ways: {shown}.",
    )
