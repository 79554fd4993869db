"""Metrics: ``invoke metrics``."""

from __future__ import annotations

import os
from typing import Any

from invoke import task

from runner.commands.task import command, places, say
from runner.engine.flags import takes_flags_of
from runner.serving.metrics_flags import METRICS_HELP, metrics_form


@task(auto_shortflags=False, positional=["action"], help=METRICS_HELP)
@command
@takes_flags_of(metrics_form)
def metrics(given: dict[str, Any]) -> int:
    """Collect what a model server counts of itself into a DuckDB file, at a fixed rate."""
    from runner.serving.metrics_command import MetricsFolders, metrics_command

    where = places(given["_context"])
    folders = MetricsFolders(where.root, where.metrics)
    return metrics_command(folders, say, environment=os.environ, given=given)
