"""Requests that are given up in flight may be billed: they are counted, their cost is unknown, never 0."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from itertools import count
from pathlib import Path

import pytest

from runner.endpoint.statistics.outcomes import GIVEN_UP
from runner.engine.bench.command import BenchCall, bench_command
from runner.engine.bench.standing import bench_standing
from runner.engine.standing import standing_lines
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_summary import BenchSummary
from runner.records.bench_trial import BenchTrial
from runner.store.bench_run import find_runs, newest
from tests.bench_examples import NOON
from tests.engine.bench.picky import Body, Refusal, picky
from tests.engine.bench.project import Project, make_project, options_of
from tests.engine.bench.test_killed import DEADLINE

IN_FLIGHT = 2
SAID = f"{IN_FLIGHT} requests cut in flight; what they cost is unknown"


def read(project: Project) -> tuple[BenchManifest, tuple[BenchTrial, ...], BenchSummary]:
    run = newest(find_runs(project.places.results))
    assert run is not None
    summary = run.summary()
    assert summary is not None
    return run.manifest(), run.trials(), summary


@pytest.mark.parametrize(
    "how",
    [
        {"profile": "smoke", "cases": ("seeded_grounded_unknown", "tool_selection_exact")},
        {"loads": ("concurrency=2",), "load_requests": 3, "load_warm_up": 0},
    ],
    ids=["outside of load", "under load"],
)
def test_requests_in_flight_at_a_second_ctrl_c_are_counted_with_an_unknown_cost_and_stay_so(
    tmp_path: Path, how: dict[str, object]
) -> None:
    project, heard, release = make_project(tmp_path, [("one", ())]), count(1), threading.Event()

    def presses(_body: Body) -> Refusal | None:
        number = next(heard)
        if number == IN_FLIGHT:
            os.kill(os.getpid(), signal.SIGINT)
            deadline = time.monotonic() + DEADLINE
            while not any("press Ctrl-C again" in line for line in project.said):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
        if number <= IN_FLIGHT:
            release.wait(DEADLINE)
        return None

    with picky(presses) as server:
        usual: dict[str, object] = {"models": ("some-model",), "url": server.url, "preflight": False}
        call = BenchCall(options_of(**{**usual, "concurrency": IN_FLIGHT, **how}))
        try:
            assert bench_command(project.places, project.said.append, call, {}) == 3
        finally:
            release.set()
        manifest, trials, summary = read(project)
        assert [(each.skipped, each.cut_requests, each.requests) for each in trials] == [
            (GIVEN_UP, 1, ())
        ] * IN_FLIGHT
        assert (summary.account.left, summary.account.skipped) == (summary.account.planned, {})
        assert (summary.account.cut_requests, summary.targets[0].money.total_usd) == (IN_FLIGHT, None)
        assert summary.targets[0].money.unknown[GIVEN_UP] == IN_FLIGHT
        assert f"  {SAID}" in project.said
        run = newest(find_runs(project.places.results))
        assert run is not None
        standing = bench_standing(run, project.places, NOON)
        assert (standing.done, standing.unpriced) == (0, IN_FLIGHT)
        assert f"note: {SAID}" in standing_lines(standing, NOON)

        again = BenchCall(resume=manifest.run_id, options=options_of())
        assert bench_command(project.places, project.said.append, again, {}) == 0
    _, trials, summary = read(project)
    assert summary.account.left == 0
    assert sum(each.cut_requests for each in trials) == summary.account.cut_requests == IN_FLIGHT
    assert len({each.key for each in trials}) == len(trials) == len(manifest.planned)
    assert summary.targets[0].reliability.requests == sum(len(each.requests) for each in trials)
    assert summary.targets[0].money.unknown[GIVEN_UP] == IN_FLIGHT
    assert json.loads(run.summary_path.read_text())["account"]["cut_requests"] == IN_FLIGHT
