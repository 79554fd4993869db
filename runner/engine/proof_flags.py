"""Proof flags: the flags of ``invoke judge-proof``: those of ``invoke judge`` and two of its own."""

from __future__ import annotations

import inspect
from typing import Any

from runner.engine.judge_flags import JUDGE_HELP, judge_form
from runner.errors import UsageError

NOT_HERE = ("path", "only_missing", "cell")
"""Flags of ``invoke judge`` that choose trials."""
BESIDE_SETTINGS = ("config", "concurrency", "dry_run")

PROOF_HELP = {
    **{name: text for name, text in JUDGE_HELP.items() if name.replace("-", "_") not in NOT_HERE},
    "suite": "injection, anchors, length, order, with commas (default: all in datasets/judge-suites)",
    "count": "only the first N pairs of each suite, of as many categories as N allows",
    "repeats": "scorings of each side of each pair (default: 1)",
    "rubric": "implementation, five-artifacts, or package.module:Name (default: implementation)",
    "dry-run": "say how many questions there are and what they can cost, and stop",
}


def proof_form(*_arguments: object, **_flags: object) -> None:
    """Stands for its signature: every flag with its default."""


def _signature() -> inspect.Signature:
    shared = [each for name, each in inspect.signature(judge_form).parameters.items() if name not in NOT_HERE]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [
        inspect.Parameter("suite", kind, default=""),
        inspect.Parameter("count", kind, default=None),
    ]
    return inspect.Signature([*shared[:1], *own, *shared[1:]])


proof_form.__dict__["__signature__"] = _signature()


def proof_call(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``proof_command`` that the flags ``given`` stand for.

    Raises:
        UsageError: the count is no number.
    """
    beside = {name: given[name] for name in BESIDE_SETTINGS}
    own = {"suite", "count", "_context", *beside}
    settings = {name: value for name, value in given.items() if name not in own}
    count = given["count"]
    return {
        **beside,
        "suites": [name for name in given["suite"].split(",") if name],
        "count": None if count is None else _number(count),
        "flags": settings,
    }


def _number(text: object) -> int:
    if not str(text).isdecimal():
        raise UsageError(f"--count is {text!r}", remedy="give a whole number from 1 on")
    return int(str(text))
