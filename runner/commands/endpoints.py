"""Endpoint commands: benchmark the mappings of a model, and render what came of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from invoke import Context, task

from runner.commands.task import ROOT, command, places, say
from runner.engine.bench.form import BENCH_HELP, bench_form, bench_how, bench_options
from runner.engine.flags import takes_flags_of
from runner.engine.places import Places

CALIBRATED_STREAMS = (1, 32, 100)


@task(
    positional=[],
    auto_shortflags=False,
    optional=["resume"],
    iterable=["model", "mapping", "suites", "cases", "load", "limit", "fail_on"],
    help=BENCH_HELP,
)
@command
@takes_flags_of(bench_form)
def bench(given: dict[str, Any]) -> int:
    """Benchmark the mappings of a model: speed, load, capability, coding; without flags a demonstration."""
    from runner.engine.bench.command import BenchCall, bench_command, calibrate_command

    options = bench_options(given)
    if given["calibrate"]:
        return calibrate_command(say, options, CALIBRATED_STREAMS)
    call = BenchCall(options, **bench_how(given))
    return bench_command(Places(Path(given["_context"].config[ROOT])), say, call, os.environ)


@task(
    name="bench-report",
    positional=["run"],
    auto_shortflags=False,
    help={
        "run": "id of the run, or latest",
        "format": "md, html, timings, csv, json, or all",
        "out": "file, or with --format all a folder (default: the terminal)",
    },
)
@command
def bench_report(context: Context, run: str, format: str = "md", out: str = "") -> int:  # noqa: A002
    """Render a benchmark run again from its files; nothing is asked and nothing is paid."""
    from runner.engine.bench.reporting import bench_report_command

    return bench_report_command(places(context), say, wanted=run, form=format, out=out)
