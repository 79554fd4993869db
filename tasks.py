"""The commands of Harnessmark: each parses its flags, calls one function, and maps errors to exit codes.

Exit codes: 0 done, 1 wrong usage or configuration, 2 done but below a threshold, 3 partial, 4 own fault.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from invoke import Collection, Context, Exit, task

from runner.errors import HarnessmarkError

ROOT = Path(__file__).resolve().parent
OWN_FAULT = 4


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """An invoke task whose return value is its exit code and whose failures are explained, not traced."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **flags: Any) -> None:
        sys.excepthook = _own_fault
        try:
            code = function(*arguments, **flags)
        except HarnessmarkError as error:
            raise Exit(error.message(), code=error.exit_code) from None
        if code:
            raise Exit(code=code)

    return wrapped


def _own_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A failure that nobody foresaw: show it in full and leave with the code for our own faults."""
    sys.__excepthook__(kind, error, trace)
    sys.exit(OWN_FAULT)


def _places() -> Any:
    from runner.engine.places import Places

    return Places(ROOT)


def _console() -> Any:
    from rich.console import Console

    return Console()


RUN_HELP = {
    "config": "YAML file with the same names as these flags; flags win",
    "harness": "coding agent, or several with commas (default: loop)",
    "agent": "another name for --harness",
    "skill": "prompt program, or several with commas (default: fix)",
    "provider": "hosting path (default: endpoint when --endpoint is given, else replay)",
    "endpoint": "base URL of an OpenAI-compatible server",
    "api-key-env": "name of the environment variable that holds the key",
    "model": "model id, or several with commas (default with replay: all recorded ones)",
    "effort": "reasoning effort, part of the cell's name",
    "dataset": "name or path of a dataset (default: hello-world)",
    "tasks": "task ids with commas (default: all)",
    "count": "only the first N tasks of the selection",
    "trials": "attempts per task and cell",
    "seed": "draws the order of the trials",
    "concurrency": "trials at a time",
    "max-turns": "model answers per invocation",
    "max-tokens": "tokens per invocation, all classes",
    "max-output-tokens": "tokens per model answer",
    "max-cost-usd": "dollars per trial",
    "budget-usd": "dollars for the whole run; above it no trial starts",
    "timeout-seconds": "wall clock per invocation",
    "max-retries": "new starts after a model error that left nothing",
    "max-topups": "completion passes for missing artifacts",
    "context-window": "tokens; 0 asks the server",
    "instance-type": "machine that serves the model, for the record",
    "tensor-parallel-size": "for the record",
    "precision": "for the record",
    "aws-region": "for provider bedrock",
    "kiro-dollars-per-credit": "for provider kiro",
    "fail-under": "exit 2 when fewer than this share of the trials (in %) is resolved",
    "dry-run": "show the plan, its size and its cost ceiling, and stop",
    "resume": "go on with a plan: its id, or nothing for the newest unfinished one",
    "stream": "show each line the harness prints",
    "verbose": "with --stream: do not cut the lines",
}


@task(auto_shortflags=False, optional=["resume"], help=RUN_HELP)
@command
def run(
    _context: Context,
    config: str | None = None,
    harness: str | None = None,
    agent: str | None = None,
    skill: str | None = None,
    provider: str | None = None,
    endpoint: str | None = None,
    api_key_env: str | None = None,
    model: str | None = None,
    effort: str | None = None,
    dataset: str | None = None,
    tasks: str | None = None,
    count: str | None = None,
    trials: str | None = None,
    seed: str | None = None,
    concurrency: str | None = None,
    max_turns: str | None = None,
    max_tokens: str | None = None,
    max_output_tokens: str | None = None,
    max_cost_usd: str | None = None,
    budget_usd: str | None = None,
    timeout_seconds: str | None = None,
    max_retries: str | None = None,
    max_topups: str | None = None,
    context_window: str | None = None,
    instance_type: str | None = None,
    tensor_parallel_size: str | None = None,
    precision: str | None = None,
    aws_region: str | None = None,
    kiro_dollars_per_credit: str | None = None,
    fail_under: str | None = None,
    dry_run: bool = False,
    resume: str | None = None,
    stream: bool = False,
    verbose: bool = False,
) -> int:
    """Run coding agents on tasks; without flags, the offline demonstration."""
    flags = {
        name: value
        for name, value in locals().items()
        if name not in {"_context", "config", "dry_run", "resume", "stream", "verbose"}
    }
    from runner.engine.command import run_command

    return run_command(
        _places(),
        _console(),
        config=Path(config) if config else None,
        flags=flags,
        environment=os.environ,
        dry_run=dry_run,
        resume=resume,
        stream=stream,
        verbose=verbose,
    )


@task(help={"root": "folder of the store (default: every store below results/)"})
@command
def verify(_context: Context, root: str | None = None) -> int:
    """Recompute every digest of the results store and name what is wrong."""
    from runner.store import verify as verify_store

    roots = [Path(root)] if root else list(_places().roots().existing())
    findings = 0
    for each in roots:
        for finding in verify_store(each):
            findings += 1
            print(f"{each.name}: {finding.line()}")
    print(f"{findings} findings in {len(roots)} stores" if findings else f"{len(roots)} stores are whole")
    return 3 if findings else 0


@task(
    help={
        "url": "where the site will stand, such as https://someone.github.io/portal/",
        "to": "branch to publish to, such as gh-pages; without it the site stays in site/",
        "remote": "git remote or path of a repository to push to",
    }
)
@command
def publish(_context: Context, url: str | None = None, to: str | None = None, remote: str = "origin") -> None:
    """Build the site into site/, check it, and with --to push it to a branch."""
    from generators.publish.site import build

    built = build(ROOT, site_url=url, progress=lambda line: print(line, flush=True))
    print(f"{built.pages} pages, {built.links} links checked: {built.folder.relative_to(ROOT)}/")
    if to:
        from generators.publish.branch import push

        pushed = push(ROOT, built, remote=remote, branch=to)
        print(pushed)
    else:
        print("look at it with: .venv/bin/invoke serve")


namespace = Collection(run, verify, publish)
