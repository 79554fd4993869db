"""``invoke sweep`` from its flags to a record: talks and agents as load, a stop in between, and going on."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from runner.engine.places import Places
from runner.engine.standing import Standing
from runner.engine.status_command import status_command
from runner.engine.stopping import stop_command
from runner.engine.sweeps.command import sweep_command
from runner.engine.sweeps.flags import sweep_form
from runner.engine.sweeps.keeper import SweepFolder, find_sweep
from runner.engine.sweeps.proof import AIM, compared, injected
from runner.errors import EndpointError, UsageError
from runner.records import Level, ThroughputRecord
from runner.replay import STAND_IN, ReplayServer, ServiceTimes
from runner.store import verify

ROOT = Path(__file__).parents[3]
FAST = ServiceTimes(capacity=2, prefill_seconds_per_token=0.0005, output_seconds_per_token=0.01)
SMALL = {
    "shared_tokens": "60",
    "first_tokens": "60",
    "added_tokens": "60",
    "output_tokens": "5",
    "turns": "4",
}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(tmp_path)
    found.datasets.symlink_to(ROOT / "datasets")
    return found


@pytest.fixture
def server(places: Places) -> Iterator[ReplayServer]:
    with ReplayServer(places.cassettes, service=FAST) as running:
        yield running


class Held(Console):
    """Holds up who prints a line that begins so, until that is allowed; others may print meanwhile."""

    def __init__(self, shown: StringIO, until: tuple[str, threading.Event] | None) -> None:
        super().__init__(file=shown, width=200)
        self._until = until

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*objects, **how)
        if self._until is not None and str(objects[0]).startswith(self._until[0]):
            assert self._until[1].wait(120)


def sweep(
    places: Places, *, until: tuple[str, threading.Event] | None = None, **given: Any
) -> tuple[int, str]:
    """The exit code, and what was shown; held up at a line ``until`` somebody allows it to go on."""
    shown = StringIO()
    console = Held(shown, until)
    code = sweep_command(places, console, environment=os.environ, given=sweep_form(None, **given))
    return code, shown.getvalue()


def talks_at(server: ReplayServer, **more: Any) -> dict[str, Any]:
    """Flags of a short sweep of a server."""
    short = {"levels": "1,3", "window_seconds": "1", "interval_seconds": "0.1", **SMALL}
    return {"endpoint": f"{server.base_url}/v1", "model": STAND_IN, **short, **more}


def standing(places: Places) -> Standing:
    """Where the newest sweep stands, as ``invoke status --json`` tells it."""
    shown = StringIO()
    status_command(places, Console(file=shown), as_json=True)
    return Standing.model_validate_json(json.dumps(json.loads(shown.getvalue())["status"]))


def records(places: Places, *, demonstration: bool = True) -> list[ThroughputRecord]:
    return [*places.store(demonstration=demonstration, private=False).sweeps()]


def test_a_sweep_of_talks_ends_as_a_record_with_everything_it_rests_on(
    places: Places, server: ReplayServer
) -> None:
    machine = {"instance_type": "p5en.48xlarge", "tensor_parallel_size": "4", "precision": "fp8"}
    code, shown = sweep(places, **talks_at(server, ttft_p90_ms="60000", deployment="a-box", **machine))
    assert code == 0, shown
    (record,) = records(places)
    assert (record.deployment.name, record.deployment.instance_share, record.demonstration) == (
        "a-box",
        0.5,
        True,
    )
    assert [level.concurrency for level in record.levels] == [1, 3]
    assert record.workload is not None
    assert record.workload.kind == "synthetic-sessions"
    assert record.findings is not None
    assert record.findings.within_limit in {1, 3}
    archives = [*(places.artifacts / "metrics" / "archives").glob("*.duckdb")]
    assert len(archives) == 1
    assert record.collector_sha256 is not None
    assert records(places, demonstration=False) == []
    for level in record.levels:
        check_level(level)
        assert "load-not-as-asked" not in {warning.code for warning in level.warnings}
    assert "USD per million tokens of any kind (13.86 USD an hour)" in shown
    assert [*verify(places.roots().demonstration)] == []
    with pytest.raises(UsageError, match="no sweep is left unfinished"):
        find_sweep(places.artifacts / "sweeps", None)


def check_level(level: Level) -> None:
    """What holds on however slow a machine: no server is faster than its injected times."""
    assert level.started_at is not None
    assert level.tpot_ms_mean == pytest.approx(10)
    # A level of which a busy machine saw no whole scrape does not tell it.
    running = level.requests_running
    assert running is None or (running.peak or 0) <= min(level.concurrency, 2)
    assert 0 < (level.output_tokens_per_second or 0) <= 2 / 0.01 * 1.1
    assert (level.ttft_ms_mean or 0) >= (level.queue_ms_mean or 0)
    assert level.prefix_cache_hit_rate is not None
    assert level.prefix_cache_hit_rate > 0.2
    assert {session.slot for session in level.sessions} == set(range(level.concurrency))


def test_the_proof_knows_what_its_server_comes_to_and_judges_by_two_percent() -> None:
    truth = injected(4, 60.0)
    fields = {name: value for name, value in vars(truth).items() if name in Level.model_fields}
    level = Level(concurrency=4, window_seconds=60.0, **fields)
    assert all(each.within_aim for each in compared(level))
    late = level.model_copy(
        update={"prompt_tokens_per_second": truth.prompt_tokens_per_second * (1 - 1.1 * AIM)}
    )
    assert [each.figure for each in compared(late) if not each.within_aim] == ["prompt_tokens_per_second"]
    blind = level.model_copy(update={"queue_ms_mean": None})
    assert [each.figure for each in compared(blind) if not each.within_aim] == ["queue_ms_mean"]


def test_a_sweep_that_is_stopped_keeps_its_levels_and_goes_on_where_it_was(
    places: Places, server: ReplayServer
) -> None:
    seen, said, stopped_it = list[Standing](), list[str](), threading.Event()

    def stop_when_one_is_kept() -> None:
        deadline = time.monotonic() + 120
        while not [*places.artifacts.glob("sweeps/*/levels/1.json")] and time.monotonic() < deadline:
            time.sleep(0.02)
        try:
            seen.append(standing(places))
            stop_command(places, said.append, plan_id=None, now=False)
        finally:
            stopped_it.set()

    stopper = threading.Thread(target=stop_when_one_is_kept)
    stopper.start()
    # The next level does not begin before the stop was heard, however slow the machine.
    until = ("level 3: 3 sessions", stopped_it)
    code, shown = sweep(places, until=until, **talks_at(server, instance_type="p5en.48xlarge"))
    stopper.join()
    assert (code, records(places)) == (3, [])
    assert "levels kept: 1; go on with: invoke sweep --resume=sweep-" in shown
    (busy,) = seen
    assert (busy.kind, busy.runner.state, busy.runner.pid) == ("sweep", "at work", os.getpid())
    assert (busy.planned, busy.done, busy.left, busy.resume) == (2, 1, 1, None)
    assert busy.at_work == "the level of 3 sessions"
    assert "gives up the level in hand" in said[0], said
    stopped = standing(places)
    assert (stopped.runner.state, stopped.runner.exit_code, stopped.left) == ("ended", 3, 1)
    assert (stopped.eta.seconds, stopped.eta.at_least) == (1.0, True)
    assert stopped.measured_seconds >= 1.0
    assert stopped.resume == f"invoke sweep --resume={stopped.identifier}"
    kept = (next(places.artifacts.glob("sweeps/*/levels/1.json"))).read_bytes()
    whole = places.root / "whole"
    shutil.copytree(places.artifacts, whole, symlinks=True)
    code, shown = sweep(places, resume=True)
    assert code == 0, shown
    assert "level 1 is measured already" in shown
    whole_now = standing(places)
    assert (whole_now.done, whole_now.left, whole_now.resume, whole_now.runner.exit_code) == (2, 0, None, 0)
    with pytest.raises(UsageError, match="nobody is at work on sweep-"):
        stop_command(places, said.append, plan_id=whole_now.identifier, now=True)
    (record,) = records(places)
    assert record.levels[0] == Level.model_validate_json(kept)
    assert [level.concurrency for level in record.levels] == [1, 3]
    # What was measured can be recorded without a server, too.
    other = Places(places.root / "other")
    other.root.mkdir()
    other.datasets.symlink_to(ROOT / "datasets")
    whole.rename(other.artifacts)
    code, shown = sweep(other, resume=True, finish=True)
    assert code == 3
    assert [level.concurrency for level in records(other)[0].levels] == [1]


def test_a_model_that_is_not_there_is_not_measured(places: Places, server: ReplayServer) -> None:
    with pytest.raises(EndpointError, match=r"nobody is not served; it serves: .*replay-load") as caught:
        sweep(places, **talks_at(server, model="nobody", instance_type="p5en.48xlarge"))
    assert "--model" in (caught.value.remedy or "")
    assert records(places, demonstration=False) == []
    assert not [*places.artifacts.glob("sweeps/*/order.json")]


class FailingModel(BaseHTTPRequestHandler):
    """An idle metrics page, no list of models, one answer to warm up, and failures after it."""

    answered = 0

    def do_GET(self) -> None:
        counters = ("prompt_tokens_total", "generation_tokens_total")
        names = ("num_requests_running", "num_requests_waiting", *counters)
        page = "".join(f'vllm:{name}{{model_name="m",engine="0"}} 0\n' for name in names)
        self.reply(200 if self.path == "/metrics" else 404, page.encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        type(self).answered += 1
        self.reply(200 if self.answered == 1 else 503, b'data: {"choices": []}\n\n')

    def reply(self, status: int, body: bytes) -> None:
        """Send all at once."""
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_a_level_of_which_every_session_failed_is_left_for_resume_with_exit_code_3(places: Places) -> None:
    FailingModel.answered = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), FailingModel) as failing:
        threading.Thread(target=failing.serve_forever, args=(0.02,), daemon=True).start()
        address = f"http://127.0.0.1:{failing.server_port}/v1"
        flags: dict[str, Any] = {"levels": "1", "window_seconds": "1", "interval_seconds": "0.1", **SMALL}
        code, shown = sweep(places, endpoint=address, model="m", instance_type="p5en.48xlarge", **flags)
        failing.shutdown()
    assert code == 3, shown
    assert "the server has no list of models" in shown
    assert "level 1 failed: none of" in shown
    assert "first: status 503" in shown
    assert "levels kept: none; go on with: invoke sweep --resume=sweep-" in shown
    assert "0.0 tok/s" not in shown
    assert records(places, demonstration=False) == []
    assert not [*places.artifacts.glob("sweeps/*/levels/*.json")]


def test_answers_of_other_lengths_than_were_asked_for_are_warned_of(
    places: Places, server: ReplayServer
) -> None:
    # The turns of a recorded task are what they are, whatever is asked.
    recorded = f"{server.base_url}/r/any/hello-world/healthz-endpoint/v1"
    flags = talks_at(server, endpoint=recorded, model="replay-careful", levels="1", output_tokens="4000")
    code, shown = sweep(places, instance_type="p5en.48xlarge", **flags)
    assert code == 0, shown
    assert "load-not-as-asked: Level 1: " in shown


def test_agents_keep_a_server_busy_each_at_a_task_of_its_own(places: Places) -> None:
    code, shown = sweep(
        places,
        load="agents",
        provider="replay",
        model="replay-careful",
        levels="2",
        window_seconds="2",
        interval_seconds="0.2",
        isolation="none",
    )
    assert code == 0, shown
    (record,) = records(places)
    assert record.workload is not None
    assert (record.workload.harness, record.workload.dataset) == ("loop", "hello-world")
    (level,) = record.levels
    assert {session.slot for session in level.sessions} == {0, 1}
    assert {session.status for session in level.sessions} <= {"ok", "cutoff"}
    assert len({session.task for session in level.sessions[:2]}) == 2
    assert not [*places.artifacts.glob("work/*/*")]
    assert not places.streams.exists()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"model": "a,b", "endpoint": "http://127.0.0.1:1/v1", "instance_type": "x"}, "one model"),
        ({"finish": True}, "ends a sweep that was begun"),
        ({"resume": "sweep-of-nobody"}, "there is no sweep sweep-of-nobody"),
        ({"resume": True, "levels": "1"}, "--levels cannot change"),
        ({"provider": "openai", "model": "m"}, "shows its metrics is not known"),
        ({"model": "m", "endpoint": "http://127.0.0.1:1/v1"}, "none is named"),
    ],
)
def test_a_call_that_makes_no_sense_says_why(places: Places, given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        sweep(places, **given)
    assert not [*places.artifacts.glob("sweeps/*/order.json")]


def test_a_sweep_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = SweepFolder(tmp_path / "sweep-1")
    folder.path.mkdir()
    (folder.path / "order.json").write_text("{", encoding="utf-8")
    with pytest.raises(Exception, match="cannot be read") as caught:
        folder.order()
    assert "order.json" in str(getattr(caught.value, "where", ""))
