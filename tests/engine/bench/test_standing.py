"""``invoke status`` and ``invoke stop`` on benchmarks that run in processes of their own."""

from __future__ import annotations

import io
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from runner.engine.bench.standing import bench_name, bench_standing
from runner.engine.journal import read_state
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.standing import Standing, standing_lines
from runner.engine.status_command import status_command
from runner.engine.stopping import stop_command
from runner.errors import UsageError
from runner.records.bench_manifest import BenchPreflight
from runner.store.bench_run import BenchRun, TrialLog
from tests import bench_examples
from tests.bench_examples import NOON
from tests.engine.bench.project import REPOSITORY, Project, make_project, options_of
from tests.engine.bench.test_killed import DEADLINE, PROGRAM

LOOKS = 0.05


def told(project: Project, identifier: str | None = None) -> tuple[int, Standing, list[str]]:
    """The exit code of a status, the standing that it tells, and ids of others that are unfinished."""
    output = io.StringIO()
    code = status_command(project.places, Console(file=output), plan_id=identifier, as_json=True)
    body = json.loads(output.getvalue())
    standing = Standing.model_validate_json(json.dumps(body["status"]))
    return code, standing, [each["identifier"] for each in body["unfinished"]]


def words(project: Project, identifier: str | None = None) -> str:
    """The same in words."""
    output = io.StringIO()
    status_command(project.places, Console(file=output, width=300), plan_id=identifier)
    return output.getvalue()


def until(project: Project, wanted: Callable[[Standing], bool]) -> Standing:
    """The standing once it is as wanted."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        if [*project.places.roots().demonstration.glob("endpoint/*/*/trials.jsonl")]:
            standing = told(project)[1]
            if wanted(standing):
                return standing
        time.sleep(LOOKS)
    raise AssertionError("it never came that far")


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str], tuple[Project, subprocess.Popen[str]]]]:
    """Starts a run of two mappings with that fault, which waits after two trials for a file ``go``."""
    children: list[subprocess.Popen[str]] = []

    def start(fault: str) -> tuple[Project, subprocess.Popen[str]]:
        project = make_project(tmp_path, [("one", (fault,)), ("two", (fault,))])
        command = [sys.executable, "-c", PROGRAM, str(project.root), "waits", "2"]
        children.append(subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, text=True))
        return project, children[-1]

    yield start
    for child in children:
        child.kill()
        child.wait()


def test_a_benchmark_at_work_is_shown_stopped_gently_and_resumed(
    started: Callable[[str], tuple[Project, subprocess.Popen[str]]],
) -> None:
    project, child = started("slow300")
    busy = until(project, lambda each: each.runner.pid is not None and each.done > 0)
    assert (busy.kind, busy.runner.state, busy.runner.pid) == ("benchmark", "at work", child.pid)
    assert busy.planned == busy.done + busy.skipped + busy.left
    assert [part.planned for part in busy.parts] == [busy.planned // 2] * 2
    assert busy.resume is None
    assert busy.at_work is not None
    assert busy.at_work.startswith("trials outside of load")
    assert busy.spent_usd is None, "the built-in server bills nothing, which is not 0"
    assert "spent: nothing, the built-in server bills nothing" in words(project)
    with pytest.raises(UsageError, match="at work already"):
        project.bench(resume="latest")

    said: list[str] = []
    # It hears only while it works; there are seconds of work left.
    (project.root / "go").touch()
    assert stop_command(project.places, said.append, plan_id=None, now=False) == 0
    assert said[0].endswith("starts nothing more; trials in flight are finished first") or "ended" in said[0]
    assert child.wait(DEADLINE) == 3
    code, ended, others = told(project)
    assert (code, others) == (3, [])
    assert (ended.runner.state, ended.runner.exit_code) == ("ended", 3)
    assert 0 < ended.done < ended.planned
    assert ended.left == ended.planned - ended.done
    assert ended.resume == f"invoke bench --resume {ended.identifier}"
    assert f"go on with: {ended.resume}" in words(project, ended.identifier)
    with pytest.raises(UsageError, match="nobody is at work on a plan or a measurement"):
        stop_command(project.places, said.append, plan_id=None, now=False)

    assert project.bench(resume=ended.identifier) == 0
    code, whole, _ = told(project)
    assert (code, whole.left, whole.done, whole.resume) == (0, 0, whole.planned, None)
    assert whole.eta.basis == "nothing is left"


def test_now_gives_up_what_is_in_flight(
    started: Callable[[str], tuple[Project, subprocess.Popen[str]]],
) -> None:
    project, child = started("slow60000")
    busy = until(project, lambda each: each.runner.pid is not None)
    said: list[str] = []
    assert stop_command(project.places, said.append, plan_id=busy.identifier, now=True) == 0
    assert child.wait(DEADLINE) == 3
    assert any("is stopping the trials in flight" in line or "has ended" in line for line in said)
    ended = told(project)[1]
    assert (ended.done, ended.left, ended.eta.seconds) == (0, ended.planned, None)


def test_a_killed_benchmark_is_told_as_such(
    started: Callable[[str], tuple[Project, subprocess.Popen[str]]],
) -> None:
    project, child = started("slow150")
    busy = until(project, lambda each: each.runner.pid is not None and each.done > 0)
    child.send_signal(signal.SIGKILL)
    child.wait(DEADLINE)
    code, dead, _ = told(project)
    assert (code, dead.runner.state) == (3, "killed")
    assert dead.resume == f"invoke bench --resume {busy.identifier}"
    assert f"runner: killed (process {child.pid}" in words(project)
    # Of another one that has begun and said nothing yet, nothing is believed but that it is there.
    with locked(project.places.lock(bench_name(busy.identifier)), wait=False, holder="a test"):
        code, begun, _ = told(project)
        assert (code, begun.runner.state, begun.runner.pid, begun.resume) == (0, "at work", None, None)
        with pytest.raises(UsageError, match="has just begun"):
            stop_command(project.places, print, plan_id=busy.identifier, now=False)


def test_what_a_budget_cut_is_left_and_a_search_has_no_known_end(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ())])
    goodput = options_of(
        suites=("performance",),
        loads=("goodput=1-2",),
        limits=("ttft_ms=60000",),
        budget_seconds="0.000001",
        event_loop="uvloop",
    )
    assert project.bench(goodput) == 3
    assert project.read()[0].host.event_loop == "uvloop", "the loop of a run stands in its manifest"
    with pytest.raises(UsageError, match="there is no event loop 'trio'"):
        project.bench(options_of(event_loop="trio"))
    standing = told(project)[1]
    assert (standing.done + standing.left, standing.skipped) == (standing.planned, 0)
    assert standing.left > 0
    assert any("the budget of time was spent; resuming asks them again" in note for note in standing.notes)
    under_load = next(part for part in standing.parts if part.name.endswith("under load"))
    assert under_load.planned is None
    assert "under load: " in words(project)
    assert " of as many as it needs" in words(project)
    state = read_state(project.places.state(bench_name(standing.identifier)))
    assert state is not None
    assert state.ended_at is not None
    # While it was at work it had behind it what the budget cut, and not before it.
    name = bench_name(standing.identifier)
    at_work = state.model_copy(update={"ended_at": None, "phase": "running"})
    project.places.state(name).write_text(at_work.model_dump_json(), encoding="utf-8")
    with locked(project.places.lock(name), wait=False, holder="a test"):
        assert (told(project)[1].at_work or "").startswith("load stage 1 of 1: ")


def test_what_was_spent_is_at_least_what_is_known_and_a_refused_request_is_billed_by_nobody(
    tmp_path: Path,
) -> None:
    plan, whole = bench_examples.manifest(), bench_examples.trial()
    before = BenchPreflight(target=plan.reference, requests=3, seconds=1.0, cost_usd=0.25)
    settings = plan.settings.model_copy(update={"budget_usd": 5.0})
    plan = plan.model_copy(update={"demonstration": False, "preflight": (before,), "settings": settings})
    [request] = whole.requests
    paid = request.model_copy(update={"cost_usd": 0.5, "cost_missing": None})
    refused = request.model_copy(update={"outcome": "rate-limited", "http_status": 429})
    places = Places(tmp_path)
    run = BenchRun(places.roots().public, plan.model, plan.run_id)
    run.begin(plan)
    log = TrialLog(run)
    log.append(whole.model_copy(update={"requests": (refused, paid)}))
    log.close()
    found = bench_standing(run, places, NOON)
    assert (found.spent_usd, found.unpriced, found.budget_usd) == (0.75, 0, 5.0)
    assert "spent: $0.75 of $5.00; " in "\n".join(standing_lines(found, NOON))
    assert found.resume == f"invoke bench --resume {plan.run_id}", "its figures are not written yet"

    unknown = plan.model_copy(update={"preflight": (before.model_copy(update={"cost_usd": None}),)})
    run.manifest_path.write_bytes(unknown.to_bytes())
    found = bench_standing(run, places, NOON)
    assert (found.spent_usd, found.unpriced) == (0.5, 1)
    assert "spent: at least $0.50, 1 request without a price" in "\n".join(standing_lines(found, NOON))


def test_one_that_cannot_be_read_is_named_and_hides_no_other(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ())])
    assert project.bench(options_of(cases=("fixed_output_stream",))) == 0
    sound = project.run()
    older = sound.folder.with_name("20200101t000000-smoke-abc123")
    shutil.copytree(sound.folder, older)
    (older / "summary.json").unlink()
    (older / "trials.jsonl").unlink()
    shown = words(project)
    assert f"benchmark {sound.run_id}" in shown.splitlines()[0]
    assert "cannot be read: benchmark 20200101t000000-smoke-abc123: could not read" in shown
    assert "invoke verify" in shown
