"""Plausibility: figures of an imported task that cannot be right, or cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence

from runner.importers.published.document import RunDocument, TaskRow
from runner.records import CacheSemantics, DataWarning, Usage

MIN_TURNS = 5
MIN_OUTPUT_PER_TURN = 20
SLOWEST, FASTEST = 6.0, 300.0
"""Output tokens per second; the source's plausible tasks lie between 7.8 and 157."""
WIDEST_WINDOW = 1_000_000
UNCACHED = 0.05
MIN_PROMPT = 100_000
NOISE_DIGITS = 6


def task_warnings(row: TaskRow, usage: Usage | None, window: int | None) -> list[DataWarning]:
    """What is implausible about one task by itself."""
    found = [*_noise(row)]
    if (row.agent_invocations or 1) > 1:
        found.append(
            DataWarning(
                code="several-invocations", text=f"The agent was started {row.agent_invocations} times."
            )
        )
    if usage is None or not row.num_turns:
        return found
    per_turn = row.output_tokens / row.num_turns
    if too_little_output(row):
        found.append(
            DataWarning(
                code="low-output-per-turn",
                text=f"{row.output_tokens} output tokens in {row.num_turns} turns are {per_turn:.1f} a turn; "
                f"below {MIN_OUTPUT_PER_TURN} something was not counted.",
            )
        )
    if odd_rate(row):
        found.append(
            DataWarning(
                code="generation-rate-implausible",
                text=f"{row.generation_tokens_per_sec} output tokens a second: {row.output_tokens} in "
                f"{row.latency_seconds:.1f} s and {row.num_turns} turns.",
            )
        )
    return found + _prompt_warnings(row, usage, window)


def _prompt_warnings(row: TaskRow, usage: Usage, window: int | None) -> list[DataWarning]:
    found = []
    prompt = row.input_tokens
    if usage.cache_semantics is CacheSemantics.DISJOINT:
        prompt += (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    limit = window or WIDEST_WINDOW
    if prompt / row.num_turns > limit:
        found.append(
            DataWarning(
                code="turns-do-not-fit-tokens",
                text=f"{prompt} prompt tokens in {row.num_turns} turns are {prompt // row.num_turns} a turn, "
                f"more than a window of {limit}: turns and time look like the last session only.",
            )
        )
    read = usage.cache_read_tokens
    if row.total_cost_usd and read is not None and prompt >= MIN_PROMPT and read / prompt < UNCACHED:
        found.append(
            DataWarning(
                code="uncached-run",
                text=f"{read} of {prompt} prompt tokens came from the cache; the run cost "
                f"{row.total_cost_usd / row.total_tokens * 1_000_000:.2f} USD per million tokens.",
            )
        )
    return found


def too_little_output(row: TaskRow) -> bool:
    """Fewer than 20 output tokens a turn over at least 5 turns (specification 5.2)."""
    return row.num_turns >= MIN_TURNS and row.output_tokens / row.num_turns < MIN_OUTPUT_PER_TURN


def odd_rate(row: TaskRow) -> bool:
    """Whether output tokens per second lie outside what the source's plausible tasks show."""
    rate = row.generation_tokens_per_sec
    if rate is None or row.output_tokens == 0:
        return False
    return rate > FASTEST or (rate < SLOWEST and row.num_turns >= MIN_TURNS)


def last_turn_only(run: RunDocument) -> DataWarning | None:
    """A warning for every task of a run whose counters look like those of the last turn.

    Decided for the run: at least half of its tasks generate too slowly or give too little output a turn.
    A single such task is an outlier and carries its own warning only.
    """
    suspects = [
        row
        for row in run.tasks
        if row.output_tokens
        and (too_little_output(row) or (odd_rate(row) and (row.generation_tokens_per_sec or 0) < SLOWEST))
    ]
    if 2 * len(suspects) < len(run.tasks) or not suspects:
        return None
    return DataWarning(
        code="last-turn-counters",
        text=f"In {len(suspects)} of {len(run.tasks)} tasks of this run output tokens are too few for the "
        "turns or the time, as if only the last turn had been counted.",
    )


def _noise(row: TaskRow) -> Sequence[DataWarning]:
    noisy = [
        f"{name} {value!r}"
        for name, value in (("latency_seconds", row.latency_seconds), ("task_score", row.task_score))
        if value is not None and round(value, NOISE_DIGITS) != value
    ]
    if not noisy:
        return ()
    return (DataWarning(code="float-noise", text=f"Kept as printed: {', '.join(noisy)}."),)
