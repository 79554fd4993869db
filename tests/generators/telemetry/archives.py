"""Archives with known truth, written by the collector's own code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from runner.serving.database import Answer
from runner.serving.exposition import Sample
from tests.serving.stage import at, collected

SECONDS = 120
PROMPT, OUTPUT = 3000.0, 40.0
"""Tokens a second."""
TTFT, GAP, QUEUE, WHOLE = 0.25, 0.02, 0.05, 1.5
"""Seconds of each request, of which one ends each second."""
EVIL = "evil<script>alert(1)</script>\"'&\u202e"

Told = Mapping[str, float]


def steady(second: float) -> dict[str, float]:
    """What a server tells that does the same each second."""
    return {
        "prompt_tokens_total": PROMPT * second,
        "generation_tokens_total": OUTPUT * second,
        "prefix_cache_queries_total": PROMPT * second,
        "prefix_cache_hits_total": PROMPT * second * 0.75,
        "num_requests_running": 3.0 if second % 2 else 5.0,
        "num_requests_waiting": 1.0,
        "kv_cache_usage_perc": min(second / 200, 0.5),
        **{
            f"{family}_{part}": second * (each if part == "sum" else 1)
            for family, each in (
                ("time_to_first_token_seconds", TTFT),
                ("inter_token_latency_seconds", GAP),
                ("request_time_per_output_token_seconds", GAP),
                ("request_queue_time_seconds", QUEUE),
                ("e2e_request_latency_seconds", WHOLE),
            )
            for part in ("sum", "count")
        },
    }


def labels(model: str, **more: str) -> str:
    """Labels as the collector writes them."""
    return json.dumps({"engine": "0", "model_name": model, **more}, sort_keys=True, separators=(",", ":"))


def written(
    path: Path,
    told: Callable[[float], Told | None] = steady,
    *,
    model: str = "vendor/model-1",
    seconds: int = SECONDS,
    reason: str = "stop",
    ended: bool = True,
    failure: str = "connection refused",
) -> Path:
    """An archive in which ``told`` says what stood on the page at each second; None is a failed scrape."""
    with collected(path, "evening") as database:
        for second in range(seconds + 1):
            values = told(float(second))
            if values is None:
                database.append(Answer(at(second), 1.0, [], failure))
                continue
            samples = [
                Sample(f"vllm:{name}", "counter", labels(model), value) for name, value in values.items()
            ]
            samples.append(
                Sample(
                    "vllm:request_success_total",
                    "counter",
                    labels(model, finished_reason=reason),
                    float(second),
                )
            )
            database.append(Answer(at(second), 1.0, samples))
        if ended:
            database.end(at(seconds + 1))
        else:
            database.fold()
    return path
