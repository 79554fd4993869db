"""Agents: the real coding agents that the tests run, installed at their pinned versions, and their proof."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

from runner.engine.accounting import account_installed, merged, read_report, write_report
from runner.engine.places import Places
from runner.errors import ConfigurationError
from runner.harnesses.accounting import Account
from runner.harnesses.installation import Source
from runner.harnesses.installer import install
from runner.harnesses.registry import HARNESSES, harness

RUN_FOR_REAL = ("claude-code", "codex", "pi")
PROXY = "litellm"
CONTRACT = "tests/harnesses/test_contract.py"


def ensure_agents(installed: Path, progress: Callable[[str], None]) -> None:
    """Install what is missing below ``installed``; what is there is only asked for its version.

    Raises:
        ConfigurationError: one cannot be had; the remedy says what to do.
    """
    for program in install((*RUN_FOR_REAL, PROXY), installed, progress):
        progress(program.line())


def prove(wanted: str, places: Places, progress: Callable[[str], None]) -> int:
    """The contract of the wanted harnesses, then each through every mishap, one after the other.

    Counts go into the table of the documentation. One harness at a time, so that memory suffices for the
    largest.

    Args:
        wanted: names or import paths with commas, or ``all``.

    Returns:
        0 when all of it holds, 3 when counts do not agree, else what the contract's tests ended with.

    Raises:
        UsageError: there is no such harness.
        ConfigurationError: a named one cannot be installed.
    """
    names = sorted(HARNESSES) if wanted == "all" else wanted.split(",")
    chosen = {name: harness(name) for name in names}
    environment = {**os.environ, "HARNESSMARK_TEST_HARNESSES": " ".join(names)}
    code = subprocess.call([sys.executable, "-m", "pytest", "-q", CONTRACT], cwd=places.root, env=environment)
    if code:
        return code
    account = Account((), {}, {})
    for name, found in sorted(chosen.items(), key=lambda pair: pair[1].memory_mb):
        if found.installation is not None and found.installation.source is not Source.BY_HAND:
            try:
                install([name], places.harnesses, progress)
            except ConfigurationError as error:
                if wanted != "all":
                    raise
                progress(f"{name}: {error.message()}")
        progress(f"{name}: takes up to {found.memory_mb:,} MB")
        account = account.with_more(account_installed(places, progress, [name]))
    path = places.reference / "accounting.json"
    write_report(path, merged(read_report(path), account, date.today()))
    for name, reason in account.skipped.items():
        progress(f"skipped {name}: {reason}")
    agreeing = sum(row.agrees for row in account.rows)
    progress(f"{agreeing} of {len(account.rows)} runs agree; the table is in {path.relative_to(places.root)}")
    return 0 if agreeing == len(account.rows) else 3
