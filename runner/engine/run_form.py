"""Run form: the flags of ``invoke run`` and ``invoke preflight``, each with its default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

OF_A_RUN = ("dry_run", "detach", "stream", "verbose")
"""Flags that say how a run goes on, and mean nothing to its pre-flight."""


def run_form(
    _context: object,
    matrix: str | None = None,
    config: str | None = None,
    harness: str | None = None,
    agent: str | None = None,
    skill: str | None = None,
    provider: str | None = None,
    endpoint: str | None = None,
    protocol: str | None = None,
    api_key_env: str | None = None,
    model: str | None = None,
    backend_model: str | None = None,
    backend_protocol: str | None = None,
    recipe: str | None = None,
    effort: str | None = None,
    dataset: str | None = None,
    tasks: str | None = None,
    count: str | None = None,
    trials: str | None = None,
    seed: str | None = None,
    concurrency: str | None = None,
    max_turns: str | None = None,
    max_tokens: str | None = None,
    max_trial_tokens: str | None = None,
    max_trial_seconds: str | None = None,
    max_repeats: str | None = None,
    max_output_tokens: str | None = None,
    price_input: str | None = None,
    price_output: str | None = None,
    price_cache_read: str | None = None,
    price_cache_write: str | None = None,
    max_cost_usd: str | None = None,
    budget_usd: str | None = None,
    budget_tokens: str | None = None,
    budget_seconds: str | None = None,
    cell_budget_usd: str | None = None,
    cell_budget_tokens: str | None = None,
    cell_budget_seconds: str | None = None,
    max_hours: str | None = None,
    end_hours: str | None = None,
    timeout_seconds: str | None = None,
    idle_seconds: str | None = None,
    isolation: str | None = None,
    max_retries: str | None = None,
    max_topups: str | None = None,
    context_window: str | None = None,
    allow_small_window: bool = False,
    hosting: str | None = None,
    faults: str | None = None,
    instance_type: str | None = None,
    tensor_parallel_size: str | None = None,
    precision: str | None = None,
    aws_region: str | None = None,
    aws_profile: str | None = None,
    kiro_dollars_per_credit: str | None = None,
    notify: str | None = None,
    judge: str | None = None,
    judge_mode: str | None = None,
    judge_concurrency: str | None = None,
    fail_under: str | None = None,
    dry_run: bool = False,
    resume: str | None = None,
    detach: bool = False,
    stream: bool = False,
    verbose: bool = False,
) -> dict[str, Any]:
    """Every flag with its default, by name."""
    return dict(locals())


def run_call(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``run_command`` that the flags ``given`` stand for."""
    how = {name: given[name] for name in (*OF_A_RUN, "resume")}
    flags = {
        name: value for name, value in given.items() if name not in {*how, "_context", "matrix", "config"}
    }
    # A flag without a value that was not given leaves the word to the configuration.
    flags["allow_small_window"] = flags["allow_small_window"] or None
    files = {name: Path(given[name]) if given[name] else None for name in ("matrix", "config")}
    return {**how, **files, "flags": flags}


def preflight_call(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``preflight_command`` that the flags ``given`` stand for."""
    return {name: value for name, value in run_call(given).items() if name not in OF_A_RUN}
