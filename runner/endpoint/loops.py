"""Event loops: which one a measurement runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeVar

from runner.errors import ConfigurationError, UsageError

LoopName = Literal["asyncio", "uvloop"]
LOOPS: tuple[LoopName, ...] = ("asyncio", "uvloop")
Result = TypeVar("Result")


def event_loop_named(wanted: str, find: Callable[[str], object] = find_spec) -> LoopName:
    """The loop of that name. It is never chosen by what happens to be installed: figures of two machines
    would then differ in a condition that nobody set.

    Args:
        wanted: what the user asked for.
        find: tells whether a package is installed; None: it is not.

    Raises:
        UsageError: there is no such loop.
        ConfigurationError: uvloop is wanted and not installed.
    """
    for name in LOOPS:
        if name == wanted:
            if name != "asyncio" and find(name) is None:
                raise ConfigurationError(
                    f"{name} is not installed", remedy=f"pip install 'harnessmark[{name}]', or use asyncio"
                )
            return name
    raise UsageError(f"there is no event loop {wanted!r}", remedy=f"known: {', '.join(LOOPS)}")


def run(main: Coroutine[Any, Any, Result], wanted: str = "asyncio") -> Result:
    """Run ``main`` to its end on the loop of that name.

    Raises:
        ConfigurationError, UsageError: it cannot be had.
    """
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    if event_loop_named(wanted) == "uvloop":
        factory = import_module("uvloop").new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
