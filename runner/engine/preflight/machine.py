"""Machine: git, isolation, memory and clock of the machine that runs the agents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from runner.datasets.git import run_git
from runner.engine.isolation import Isolation, IsolationLevel, choose
from runner.engine.isolation.bubblewrap import find_bubblewrap
from runner.engine.planning import Group
from runner.engine.preflight.system import allow_namespaces, install_command
from runner.engine.sessions import require_ways
from runner.errors import ConfigurationError
from runner.providers.checks import Check, CheckState
from runner.store import ResultsStore

OLDEST_GIT = (2, 34)
MEMORY = Path("/proc/meminfo")
AHEAD_SECONDS = 120.0
"""Clocks of two machines that share a store differ by a little."""


def git_checks() -> Iterator[Check]:
    """Git is there and new enough."""
    try:
        said = run_git("--version").stdout.decode("utf-8", "replace")
    except ConfigurationError as error:
        yield Check("git", CheckState.FAIL, error.what, install_command("git"))
        return
    match = re.search(r"(\d+)\.(\d+)", said)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    shown = said.removeprefix("git version ").strip() or "unknown version"
    if version < OLDEST_GIT:
        needed = ".".join(map(str, OLDEST_GIT))
        yield Check("git", CheckState.FAIL, f"{shown} is older than {needed}", install_command("git"))
    else:
        yield Check("git", CheckState.PASS, shown)


def isolation_checks(
    groups: Sequence[Group],
    asked: str | None,
    *,
    choice: Callable[[str | None], Isolation] = lambda asked: choose(asked, private=()),
) -> Iterator[Check]:
    """The level that agents and checks are kept in, and whether each agent gets out of it to its model."""
    try:
        isolation = choice(asked)
    except ConfigurationError as error:
        yield Check("isolation", CheckState.FAIL, error.what, isolation_fix(asked) or error.remedy)
        return
    if isolation.level is IsolationLevel.NONE:
        found = f"none ({isolation.remark}): agents and checks run with your rights"
        fix = "--isolation sandbox" if asked else isolation_fix(asked) or "use a machine you can throw away"
        yield Check("isolation", CheckState.WARN, found, fix)
    else:
        yield Check("isolation", CheckState.PASS, str(isolation.level))
    for group in groups:
        try:
            require_ways([group], isolation)
        except ConfigurationError as error:
            yield Check("isolation", CheckState.FAIL, error.what, error.remedy)


def isolation_fix(asked: str | None) -> str | None:
    """The command that makes the sandbox, or the container asked for, work here."""
    if asked == IsolationLevel.CONTAINER:
        return install_command("podman")
    if find_bubblewrap(os.environ) is None:
        return install_command("bubblewrap")
    return allow_namespaces()


def memory_checks(groups: Sequence[Group], *, meminfo: Path = MEMORY) -> Iterator[Check]:
    """What the agents at work at the same time may take beside what is free."""
    free = _available_bytes(meminfo)
    if free is None:
        return
    at_once = groups[0].settings.concurrency
    largest, name = max(
        (harness.memory_mb, harness.name) for group in groups for harness in group.parts.harnesses.values()
    )
    need = largest * 1_000_000
    found = f"{free / 1e9:.1f} GB free; {at_once} x {name} may take {at_once * largest / 1000:.1f} GB"
    if at_once * need <= free:
        yield Check("memory", CheckState.PASS, found)
    else:
        yield Check("memory", CheckState.WARN, found, f"--concurrency {max(1, free // max(need, 1))}")


def clock_checks(stores: Sequence[ResultsStore], now: datetime | None = None) -> Iterator[Check]:
    """The clock is not behind what is in the store already: order and durations would be wrong."""
    now = now or datetime.now(UTC)
    dates = [plan.created_at for store in stores for plan in store.plans() if plan.created_at]
    newest = max(dates, default=None)
    if newest is not None and (newest - now).total_seconds() > AHEAD_SECONDS:
        found = f"{now:%Y-%m-%d %H:%M} UTC is before the newest plan, which is of {newest:%Y-%m-%d %H:%M}"
        yield Check("clock", CheckState.WARN, found, "set the clock of this machine")
    else:
        yield Check("clock", CheckState.PASS, f"{now:%Y-%m-%d %H:%M} UTC")


def _available_bytes(meminfo: Path) -> int | None:
    try:
        match = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(encoding="ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return int(match[1]) * 1024 if match else None
