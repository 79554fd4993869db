"""Bench form: the flags of ``invoke bench``, each with its default, and what they come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runner.engine.bench.options import BenchOptions
from runner.errors import UsageError

NEWEST = "latest"
BENCH_HELP = {
    "model": "model of datasets/targets, or with --url the id that the endpoint knows (default: the built-in "
    "server, a demonstration)",
    "mapping": "which mappings: provider, provider:region, provider:* or *; comma lists (default: all)",
    "url": "address of an endpoint in no file, ending where the protocol's paths begin",
    "api-key-env": "name of the variable with the key of --url; never a key",
    "protocol": "of --url: chat-completions, messages or responses",
    "profile": "smoke, standard, load or coding (default: smoke)",
    "suites": "suites in place of a profile: capability, quality, performance, load, coding, core",
    "cases": "only these cases; comma list",
    "external": "suite of others, such as ifeval",
    "external-data": "its file",
    "external-limit": "no more than so many of its cases",
    "external-offset": "leave out so many of its cases first",
    "external-mode": "strict or loose",
    "external-unsupported": "what becomes of cases without a rule: skip or error",
    "runs": "instances per case (default: each case's own)",
    "repeats": "times that the first instance is asked",
    "warm-ups": "trials per case that are in no figure",
    "load": "load shape, may be repeated: concurrency=4, rate=2, poisson=1,2, ramp=1-10, sweep=1,2,4,8, "
    "goodput=1-64, sessions=4, agent-sessions=2, transcript=FILE",
    "rate": "short for --load poisson=RATE",
    "load-requests": "requests per load stage",
    "load-warm-up": "requests before the measured ones of a load stage",
    "limit": "limit of goodput, may be repeated: ttft_ms=800",
    "concurrency": "trials at once outside of load stages",
    "workers": "processes that share the streams of each load stage (default: as many as calibration shows)",
    "budget-seconds": "time for each target's trials outside of load, anew when resumed, or none",
    "load-budget-seconds": "time for all load stages together, anew when resumed, or none",
    "budget-usd": "dollars for the run, resumed or not, in even shares per target",
    "seed": "of instances, order and resampling",
    "reference": "target that the others are compared with (default: the first)",
    "effort": "reasoning effort in place of each case's own",
    "max-output-tokens": "in place of each case's own",
    "temperature": "in place of each case's own",
    "allow-cache": "let a gateway answer from its cache",
    "allow-fallback": "let a gateway hand requests to other providers than the one that was asked",
    "shared-prefix": "tell prompts apart at their ends, not their beginnings, so that caches of prompts work",
    "timeout-seconds": "longest time of one request",
    "stall-seconds": "longest silence inside an answer",
    "transport": "asyncio, or httpx for proxies and HTTP/2, whose bias calibration shows",
    "event-loop": "asyncio, or uvloop where it is installed",
    "calibrate": "measure only the client itself and print its error",
    "calibration": "measure the client before the run (--no-calibration leaves it out)",
    "preflight": "ask each mapping a little before the run, and leave out of it what it refuses "
    "(--no-preflight sends everything as the files say)",
    "responses": "keep what models say (--no-responses removes every generated text from every file)",
    "fail-on": "condition that fails the run, may be repeated: 'ttft_p90_ms>800'",
    "include-deactivated": "mappings that are switched off too",
    "client-region": "where this machine is, for the record",
    "resume": "go on with a run: its id, or nothing for the newest",
    "dry-run": "show the plan; ask nothing, write nothing",
    "quiet": "no line per trial",
    "out": "folder for the reports",
    "server-log": "of a demonstration: file for what the built-in server injected and sent",
}


def bench_form(
    _context: object,
    model: list[str] | None = None,
    mapping: list[str] | None = None,
    url: str = "",
    api_key_env: str = "",
    protocol: str = "",
    profile: str = "",
    suites: list[str] | None = None,
    cases: list[str] | None = None,
    external: str = "",
    external_data: str = "",
    external_limit: str = "",
    external_offset: str = "0",
    external_mode: str = "strict",
    external_unsupported: str = "skip",
    runs: str = "",
    repeats: str = "",
    warm_ups: str = "",
    load: list[str] | None = None,
    rate: str = "",
    load_requests: str = "",
    load_warm_up: str = "",
    limit: list[str] | None = None,
    concurrency: str = "1",
    workers: str = "",
    budget_seconds: str = "",
    load_budget_seconds: str = "",
    budget_usd: str = "",
    seed: str = "1",
    reference: str = "",
    effort: str = "",
    max_output_tokens: str = "",
    temperature: str = "",
    allow_cache: bool = False,
    allow_fallback: bool = False,
    shared_prefix: bool = False,
    timeout_seconds: str = "",
    stall_seconds: str = "",
    transport: str = "asyncio",
    event_loop: str = "asyncio",
    calibrate: bool = False,
    calibration: bool = True,
    preflight: bool = True,
    responses: bool = True,
    fail_on: list[str] | None = None,
    include_deactivated: bool = False,
    client_region: str = "",
    resume: str = "",
    dry_run: bool = False,
    quiet: bool = False,
    out: str = "",
    server_log: str = "",
) -> dict[str, Any]:
    """Every flag with its default, by name."""
    return dict(locals())


def bench_options(given: dict[str, Any]) -> BenchOptions:
    """What the flags ``given`` ask for.

    Raises:
        UsageError: a number that is none.
    """
    rate = given["rate"]
    values: dict[str, Any] = {name: given[name] for name in SAME}
    values |= {name: _listed(given[name]) for name in ("suites", "cases")}
    values |= {name: _whole(given[name], name) for name in COUNTS}
    values |= {name: _whole(given[name], name, 1) for name in COUNTS_FROM_ONE}
    values |= {name: _number(given[name], name) for name in NUMBERS}
    values |= {name: _whole(given[name] or usual, name) for name, usual in ALWAYS.items()}
    return BenchOptions(
        **values,
        models=_listed(given["model"]),
        mappings=tuple(given["mapping"] or ()),
        loads=(*(given["load"] or ()), *((f"poisson={rate}",) if rate else ())),
        limits=tuple(given["limit"] or ()),
        calibrate=given["calibration"],
        preflight=given["preflight"],
        keep_responses=given["responses"],
        thresholds=tuple(given["fail_on"] or ()),
    )


SAME = (
    "url",
    "api_key_env",
    "protocol",
    "profile",
    "external",
    "external_data",
    "external_mode",
    "external_unsupported",
    "budget_seconds",
    "load_budget_seconds",
    "reference",
    "effort",
    "transport",
    "event_loop",
    "include_deactivated",
    "allow_cache",
    "allow_fallback",
    "shared_prefix",
    "client_region",
)
"""Flags that stand in the options as they are."""
COUNTS = ("runs", "repeats", "warm_ups", "load_warm_up")
COUNTS_FROM_ONE = ("workers", "load_requests", "max_output_tokens", "external_limit")
ALWAYS = {"external_offset": "0", "concurrency": "1", "seed": "1"}
"""Whole numbers that every run has, and what they are where no flag says so."""
MOST_DIGITS = 18
NUMBERS = ("budget_usd", "temperature", "timeout_seconds", "stall_seconds")


def bench_how(given: dict[str, Any]) -> dict[str, Any]:
    """How the run goes on: the arguments of a call besides its options."""
    resume, log = given["resume"], given["server_log"]
    return {
        "resume": NEWEST if resume is True else resume,
        "dry_run": given["dry_run"],
        "quiet": given["quiet"],
        "out": given["out"],
        "log": Path(log) if log else None,
    }


def _listed(texts: list[str] | None) -> tuple[str, ...]:
    items = (item.strip() for text in texts or () for item in text.split(","))
    return tuple(dict.fromkeys(item for item in items if item))


def _number(text: str, flag: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise UsageError(f"--{flag.replace('_', '-')} must be a number of at least 0", where=text[:60])
    return value


def _whole(text: str, flag: str, least: int = 0) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS or int(text) < least:
        raise UsageError(
            f"--{flag.replace('_', '-')} must be a whole number of at least {least}", where=text[:60]
        )
    return int(text)
