"""Judge flags: the flags of ``invoke judge``, and what each of them means for its help."""

from __future__ import annotations

from typing import Any

BESIDE_SETTINGS = ("path", "config", "only_missing", "cell", "concurrency", "dry_run")
"""Flags that say what to judge, and how, rather than who judges."""

JUDGE_HELP = {
    "path": "a store, or a folder in it such as results/swe/<model>_<provider> (default: every store)",
    "config": "YAML file with the settings of the judge; flags override it",
    "judge": "direct, codex, claude-code, replay, or package.module:Name (default: direct)",
    "model": "the judge's model, as its server lists it",
    "provider": "hosting path of the judge's model (default: endpoint once --endpoint is given, else the "
    "judge's vendor)",
    "endpoint": "base URL of the judge's model, for provider endpoint",
    "protocol": "the only protocols that the endpoint speaks, with commas",
    "api-key-env": "environment variable that holds the key",
    "effort": "reasoning effort, as the judge's model knows it; another effort is another judge",
    "rubric": "five-artifacts, implementation, or package.module:Name (default: that of the trial's skill)",
    "repeats": "judgements of each trial by this judge (default: 1)",
    "only-missing": "leave out trials that any judge has scored by the rubric; judge those again whose "
    "answers were not valid",
    "cell": "only trials whose path holds one of these words or fits one of these patterns, with commas",
    "concurrency": "judgements at a time (default: 1)",
    "isolation": "none, sandbox or container (default: the strongest that works)",
    "timeout-seconds": "wall clock of one answer (default: 900)",
    "max-output-tokens": "per model answer (default: 16000 for direct, the agent's own for others)",
    "context-window": "of the judge's model (default: ask the server)",
    "price-input": "dollars per million fresh input tokens of the judge's model",
    "price-output": "dollars per million output tokens",
    "price-cache-read": "dollars per million tokens read from a cache",
    "price-cache-write": "dollars per million tokens written to a cache",
    "dry-run": "say what would be judged, and stop",
}


def judge_form(
    _context: object,
    path: str | None = None,
    config: str | None = None,
    judge: str | None = None,
    model: str | None = None,
    provider: str | None = None,
    endpoint: str | None = None,
    protocol: str | None = None,
    api_key_env: str | None = None,
    effort: str | None = None,
    rubric: str | None = None,
    repeats: str | None = None,
    only_missing: bool = False,
    cell: str = "",
    concurrency: int = 1,
    isolation: str | None = None,
    timeout_seconds: str | None = None,
    max_output_tokens: str | None = None,
    context_window: str | None = None,
    price_input: str | None = None,
    price_output: str | None = None,
    price_cache_read: str | None = None,
    price_cache_write: str | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Every flag with its default, by name."""
    return dict(locals())


def judge_call(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``judge_command`` that the flags ``given`` stand for."""
    beside = {name: given[name] for name in BESIDE_SETTINGS}
    settings = {name: value for name, value in given.items() if name not in {*beside, "_context"}}
    words = [word for word in beside.pop("cell").split(",") if word]
    return {**beside, "cells": words, "flags": settings}
