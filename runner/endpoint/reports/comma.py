"""Comma: every request of a run as one row of a CSV file that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from runner.endpoint.statistics.distribution import MEASURES
from runner.records.bench_trial import BenchRequest, BenchTrial

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
COLUMNS = (
    "methodology",
    "run",
    "target",
    "case",
    "slot",
    "warm_up",
    "stage",
    "request",
    "verdict",
    "outcome",
    "http_status",
    "failure_code",
    "failure_message",
    "finish_reason",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    *MEASURES,
    "buffered",
    "fragments",
    "paced_ms",
    "skipped",
)


def safe(value: object) -> str:
    """A value as a cell. What a spreadsheet would compute gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = str(value).replace("\x00", "")
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) or text.startswith(FORMULA) else text


def timings_csv(trials: Sequence[BenchTrial], methodology: int) -> str:
    """One row per request, warm-ups and load included; one for each trial that was skipped.

    Every row says which definitions its figures have: rows of two files may end up in one table.
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in _rows(trials):
        writer.writerow([str(methodology), *(safe(value) for value in row)])
    return out.getvalue()


def _rows(trials: Sequence[BenchTrial]) -> Iterator[list[object]]:
    for trial in trials:
        for number, request in enumerate(trial.requests, 1):
            yield _row(trial, number, request)
        if not trial.requests:
            head = _head(trial, None)
            yield [*head, *([None] * (len(COLUMNS) - len(head) - 2)), trial.skipped]


def _head(trial: BenchTrial, number: int | None) -> list[object]:
    stage = None if trial.load is None else trial.load.stage
    return [
        trial.run_id,
        trial.target,
        trial.case,
        trial.slot,
        trial.warm_up,
        stage,
        number,
        trial.score.verdict,
    ]


def _row(trial: BenchTrial, number: int, request: BenchRequest) -> list[object]:
    failure, usage = request.failure, request.usage
    return [
        *_head(trial, number),
        request.outcome,
        request.http_status,
        None if failure is None else failure.code,
        None if failure is None else failure.message,
        request.finish_reason,
        None if usage is None else usage.prompt_tokens,
        None if usage is None else usage.cached_tokens,
        None if usage is None else usage.output_tokens,
        None if usage is None else usage.reasoning_tokens,
        request.cost_usd,
        *(getattr(request.timing, name) for name in MEASURES),
        request.timing.buffered,
        request.fragment_count,
        request.paced_ms,
        trial.skipped,
    ]
