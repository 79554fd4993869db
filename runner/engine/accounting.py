"""Accounting of the installed agents: each runs against the built-in model server, counts beside counts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from runner.engine.places import Places
from runner.engine.supervision import supervise
from runner.harnesses.accounting import Account, account_all
from runner.harnesses.accounting_cassette import write_cassette
from runner.harnesses.accounting_table import to_markdown
from runner.harnesses.registry import HARNESSES, harness
from runner.replay import ReplayServer

TIMEOUT_SECONDS = 60.0
PAGE = """---
title: Token accounting
description: What each coding agent records of a run beside what the model server counted, class by class.
---

# Token accounting

Each agent ran for real against the built-in model server, which counts every token it tells a client. A cell
shows what our adapter recorded / what the server counted, or one number where both are equal; where an answer
broke off, the truth has two parts: whole answers + what was told of the broken one. *Unknown* is what nobody
reported. Chat Completions and Responses have no class for tokens written to a cache: there they are part of
the fresh input.

Written by `invoke accounting --page`; agents that were not installed are not in it.

"""


def account_installed(places: Places, progress: Callable[[str], None]) -> Account:
    """Every registered agent through every mishap; one that is not installed is skipped with its reason."""
    with tempfile.TemporaryDirectory(prefix="accounting-") as scratch:
        folder = Path(scratch)
        with ReplayServer(write_cassette(folder / "cassettes")) as server:
            return account_all(
                [harness(name) for name in sorted(HARNESSES)],
                server=server,
                folder=folder / "runs",
                installed=places.harnesses,
                start=lambda launch, out, stop: supervise(
                    launch, stdout=out, timeout_seconds=TIMEOUT_SECONDS, cancelled=stop
                ),
                progress=progress,
            )


def accounting_page(account: Account) -> str:
    """The documentation's page with the table."""
    return PAGE + to_markdown(account.rows, account.versions)
