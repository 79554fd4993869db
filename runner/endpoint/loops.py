"""Event loops: which one a measurement runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeVar

from runner.errors import ConfigurationError

LoopName = Literal["auto", "asyncio", "uvloop"]
Result = TypeVar("Result")


def loop_name(
    wanted: LoopName = "auto", find: Callable[[str], object] = find_spec
) -> Literal["asyncio", "uvloop"]:
    """The loop that ``wanted`` comes to here: ``auto`` takes uvloop where it is installed.

    Args:
        wanted: what the user asked for.
        find: tells whether a package is installed; None: it is not.

    Raises:
        ConfigurationError: uvloop is wanted and not installed.
    """
    there = find("uvloop") is not None
    if wanted == "uvloop" and not there:
        raise ConfigurationError("uvloop is not installed", remedy="pip install uvloop, or use asyncio")
    return "asyncio" if wanted == "asyncio" or not there else "uvloop"


def run(main: Coroutine[Any, Any, Result], wanted: LoopName = "auto") -> Result:
    """Run ``main`` to its end on the loop that ``wanted`` comes to."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    if loop_name(wanted) == "uvloop":
        factory = import_module("uvloop").new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
