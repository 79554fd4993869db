"""Serving commands: the throughput of a model server over concurrency."""

from __future__ import annotations

import os
from typing import Any

from invoke import task

from runner.commands.task import command, console, places
from runner.engine.flags import takes_flags_of
from runner.engine.sweeps.flags import SWEEP_HELP, sweep_form


@task(auto_shortflags=False, optional=["resume"], positional=[], help=SWEEP_HELP)
@command
@takes_flags_of(sweep_form)
def sweep(given: dict[str, Any]) -> int:
    """Measure a model server at several levels of concurrency: throughput, latency, queue, cost per token."""
    from runner.engine.sweeps.command import sweep_command

    return sweep_command(places(given["_context"]), console(), environment=os.environ, given=given)
