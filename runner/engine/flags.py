"""Flags of ``invoke run``, each in a few words."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from runner.errors import UsageError

RUN_HELP: Mapping[str, str] = {
    "matrix": "YAML file of models x harnesses x skills x datasets with exclusions; one plan over all cells",
    "config": "YAML file with the same names as these flags; flags win",
    "harness": "coding agent, or several with commas (default: loop)",
    "agent": "another name for --harness",
    "skill": "prompt program, or several with commas (default: fix)",
    "provider": "hosting path (default: endpoint when --endpoint is given, else replay)",
    "endpoint": "base URL of a server that speaks Chat Completions, Messages or Responses",
    "protocol": "the only protocols the server speaks, with commas",
    "api-key-env": "name of the environment variable that holds the key",
    "model": "model id, or several with commas (default with replay: all recorded ones)",
    "backend-model": "for provider litellm: what the server behind the proxy calls the model",
    "backend-protocol": "for provider litellm: what that server speaks (default: chat-completions)",
    "recipe": "for provider vllm: serving recipe, by name or path (default: the one that serves the model)",
    "effort": "reasoning effort, part of the cell's name",
    "dataset": "name or path of a dataset (default: hello-world)",
    "tasks": "task ids with commas (default: all)",
    "count": "only the first N tasks of the selection",
    "trials": "attempts per task and cell",
    "seed": "draws the order of the trials",
    "concurrency": "trials at a time",
    "max-turns": "model answers per invocation",
    "max-tokens": "tokens per invocation, all classes",
    "max-trial-tokens": "tokens per trial, all invocations",
    "max-trial-seconds": "seconds per trial, all invocations",
    "max-repeats": "the same action so often in turn stops an invocation; 0 = never",
    "max-output-tokens": "tokens per model answer",
    "price-input": "dollars per million fresh input tokens; with --price-output money limits can be kept",
    "price-output": "dollars per million output tokens",
    "price-cache-read": "dollars per million tokens read from a cache",
    "price-cache-write": "dollars per million tokens written to a cache",
    "max-cost-usd": "dollars per trial",
    "budget-usd": "dollars for the whole run, its judges included; above it no trial starts and none is "
    "judged; those in flight are finished",
    "budget-tokens": "tokens for the whole run, its judges included",
    "budget-seconds": "seconds of all trials together",
    "cell-budget-usd": "dollars per cell",
    "cell-budget-tokens": "tokens per cell",
    "cell-budget-seconds": "seconds per cell",
    "max-hours": "hours at work on the run, resumes counted; after them no trial starts",
    "end-hours": "hours at work on the run, resumes counted; after them trials in flight stop too",
    "timeout-seconds": "wall clock per invocation",
    "idle-seconds": "longest time without output and without model traffic",
    "isolation": "none, sandbox or container (default: the strongest that works, container only if asked)",
    "max-retries": "new starts after a model error that left nothing",
    "max-topups": "completion passes for missing artifacts",
    "context-window": "tokens; 0 asks the server",
    "allow-small-window": "run in a context window below 64,000 tokens",
    "hosting": "who runs the model's machines: vendor-api, cloud, self-hosted, vendor-managed",
    "faults": "for provider replay: what the server does wrong, such as first1-e500 or slow200",
    "instance-type": "machine that serves the model, for the record",
    "tensor-parallel-size": "for the record",
    "precision": "for the record",
    "aws-region": "for provider bedrock (default: that of the environment or the profile) and litellm",
    "aws-profile": "for provider bedrock: a profile of your AWS configuration",
    "kiro-dollars-per-credit": "for provider kiro",
    "notify": "command that is run, with a JSON summary on its input, when the run ends, a budget stops it, "
    "or a model cannot be served",
    "judge": "judges of finished trials, with commas: names, or YAML files with the settings of a judge",
    "judge-mode": "inline: after each trial; async: beside the run (default once a judge is named); skip",
    "judge-concurrency": "judgements at a time with --judge-mode async (default: 1)",
    "detach": "go on without this terminal, once everything was checked and planned",
    "fail-under": "exit 2 when fewer than this share of the trials (in %) is resolved",
    "dry-run": "show the pre-flight, the plan, its size and its cost ceiling, and stop",
    "resume": "go on with a plan: its id, or nothing for the newest unfinished one",
    "stream": "show each line the harness prints",
    "verbose": "with --stream: do not cut the lines",
}


def takes_flags_of(
    other: Callable[..., Any],
) -> Callable[[Callable[[dict[str, Any]], int]], Callable[..., int]]:
    """A function of one dictionary becomes one with the parameters of ``other``, defaults filled in.

    Whole numbers come from the command line as words, and are read here: whoever parses it would answer a
    word that is no number with a traceback.
    """

    def decorate(function: Callable[[dict[str, Any]], int]) -> Callable[..., int]:
        """``function`` with that signature."""
        own = inspect.signature(other).parameters.values()
        whole = {each.name for each in own if type(each.default) is int}
        signature = inspect.Signature(
            [each.replace(default=str(each.default)) if each.name in whole else each for each in own]
        )

        @functools.wraps(function)
        def called(*arguments: Any, **flags: Any) -> int:
            """Fill in the defaults, read whole numbers, and call the function."""
            given = signature.bind(*arguments, **flags)
            given.apply_defaults()
            read = {name: read_whole(given.arguments[name], name) for name in whole}
            return function({**given.arguments, **read})

        # Set after wrapping, where whoever asks for the parameters looks first.
        called.__dict__["__signature__"] = signature
        return called

    return decorate


def read_number(value: str, flag: str) -> float:
    """The number that was given with ``flag``.

    Raises:
        UsageError: it is none.
    """
    try:
        return float(value)
    except ValueError:
        named = f"--{flag.replace('_', '-')}"
        raise UsageError(f"{named} must be a number", where=f"{named} {value}") from None


def read_whole(value: str | int, flag: str) -> int:
    """The whole number that was given with ``flag``.

    Raises:
        UsageError: it is none.
    """
    try:
        return int(value)
    except ValueError:
        named = f"--{flag.replace('_', '-')}"
        raise UsageError(f"{named} must be a whole number", where=f"{named} {value}") from None
