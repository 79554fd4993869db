"""Effort: the figures about tokens, time and turns."""

from __future__ import annotations

import statistics

from generators.tables.sample import Sample, Value, total_of
from generators.tables.spread import amounts_per_task


def tokens_per_task(sample: Sample) -> Value:
    """Mean tokens processed by the graded trials whose token counts are known.

    Tokens processed: input + output, plus cache read and write where the input count leaves them out.
    """
    known = [trial.tokens for trial in sample.graded if trial.tokens is not None]
    if not known:
        return Value(None, 0, len(sample.graded), "token counts are missing")
    spread = amounts_per_task(sample.graded, lambda trial: trial.tokens)
    return Value(statistics.fmean(known), len(known), len(sample.graded), spread=spread)


def tokens_total(sample: Sample) -> Value:
    """Tokens processed by all trials that count, decided per trial and then added; never on a sum."""
    return total_of([trial.tokens for trial in sample.trials], sample.planned, "token counts are missing")


def input_tokens(sample: Sample) -> Value:
    """Input tokens as reported; whether cached tokens are inside depends on each trial's cache semantics."""
    return _tokens_of(sample, "input_tokens")


def output_tokens(sample: Sample) -> Value:
    """Output tokens as reported; reasoning tokens are part of them."""
    return _tokens_of(sample, "output_tokens")


def cache_read_tokens(sample: Sample) -> Value:
    """Tokens read from the prompt cache, as reported."""
    return _tokens_of(sample, "cache_read_tokens")


def cache_write_tokens(sample: Sample) -> Value:
    """Tokens written to the prompt cache, as reported."""
    return _tokens_of(sample, "cache_write_tokens")


def minutes_per_task(sample: Sample) -> Value:
    """Mean wall-clock minutes of the graded trials; several invocations of one trial are added."""
    known = [trial.minutes for trial in sample.graded if trial.minutes is not None]
    if not known:
        return Value(None, 0, len(sample.graded), "the duration was not reported")
    spread = amounts_per_task(sample.graded, lambda trial: trial.minutes)
    return Value(statistics.fmean(known), len(known), len(sample.graded), spread=spread)


def minutes_total(sample: Sample) -> Value:
    """Wall-clock minutes of all trials that count, added up as if they had run one after the other."""
    return total_of(
        [trial.minutes for trial in sample.trials], sample.planned, "the duration was not reported"
    )


def turns_per_task(sample: Sample) -> Value:
    """Mean turns of the graded trials. Each harness counts in its own way: never compare harnesses by it."""
    known = [trial.record.turns for trial in sample.graded if trial.record.turns is not None]
    if not known:
        return Value(None, 0, len(sample.graded), "turns were not reported")
    spread = amounts_per_task(sample.graded, lambda trial: trial.record.turns)
    return Value(statistics.fmean(known), len(known), len(sample.graded), spread=spread)


def _tokens_of(sample: Sample, name: str) -> Value:
    counts = [
        getattr(trial.record.usage, name) if trial.record.usage is not None else None
        for trial in sample.trials
    ]
    return total_of(counts, sample.planned, "not reported")
