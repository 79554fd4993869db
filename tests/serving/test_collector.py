"""The collector: fixed rate, failures as rows, restarts, kill -9, clean ends, storage that fails."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError, StoreError
from runner.serving.archive import archive
from runner.serving.collector import SAY_AGAIN_SECONDS, Collector, RateLimited, next_due
from runner.serving.control import collecting, log_of, start, status, status_lines, stop
from runner.serving.database import holder_of, opened
from runner.serving.readings import open_readings
from runner.serving.scrape import client_for
from runner.serving.spool import spool_of
from tests.ports import held_port
from tests.serving.stage import (
    NOON,
    PROJECT,
    TOKENS,
    answer,
    at,
    counting,
    environment,
    page,
    scrapes,
    serving,
    settings,
    until,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.duckdb"


@given(st.floats(0.01, 10), st.integers(0, 1000), st.floats(0, 100))
def test_a_late_schedule_skips_ahead_and_stays_on_its_beat(interval: float, number: int, late: float) -> None:
    due = 100.0 + interval * number
    following = next_due(100.0, interval, due, due + late)
    assert following >= due + late or following == pytest.approx(due + interval)
    assert following - (due + late) <= interval * 1.000001
    beats = (following - 100.0) / interval
    assert beats == pytest.approx(round(beats), abs=1e-6)
    assert following > due


def test_the_same_complaint_is_said_once_a_minute_with_how_often_it_was_held_back() -> None:
    said: list[str] = []
    now = [0.0]
    complain = RateLimited(said.append, lambda: now[0])
    for _ in range(5):
        complain("scrape", "refused")
    complain("store", "full")
    now[0] = SAY_AGAIN_SECONDS
    complain("scrape", "refused again")
    assert said == ["refused", "full", "refused again (4 more of this kind before)"]


def collect(
    path: Path, url: str, said: list[str], *, scrapes: int = 0, failures: int = 0, **more: object
) -> Collector:
    """Collect in this process until there are so many scrapes, or until the time is over.

    So many times at first nothing can be written.
    """

    async def run() -> Collector:
        with opened(path) as database:
            async with client_for() as client:
                failing = Failing(database, failures)
                collector = Collector(settings(path, url, **more), failing, client, said.append)  # type: ignore[arg-type]
                running = asyncio.create_task(collector.run())
                async with asyncio.timeout(120):
                    while not running.done() and not 0 < scrapes <= collector.ok + collector.failed:
                        await asyncio.sleep(0.005)
                collector.stop.set()
                await running
                return collector

    return asyncio.run(run())


class Failing:
    """A database whose disk is full for a while."""

    def __init__(self, database: object, failures: int) -> None:
        self._database, self._left = database, failures

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)

    def append(self, given: object) -> None:
        if self._left:
            self._left -= 1
            raise StoreError("the collector database cannot be written: no space")
        self._database.append(given)  # type: ignore[attr-defined]


def test_a_session_lasts_as_long_as_it_is_told(path: Path) -> None:
    with serving(counting()) as server:
        begun = time.monotonic()
        done = collect(path, server.url, [], duration_seconds=0.2)
    assert time.monotonic() - begun >= 0.2
    assert (done.ok >= 1, done.failed) == (True, 0)


def test_failed_scrapes_are_rows_and_a_server_that_began_anew_is_counted_through(path: Path) -> None:
    said: list[str] = []
    values = iter([100.0, 150.0, None, 30.0, 60.0])

    def serve(handler: BaseHTTPRequestHandler) -> None:
        value = next(values, 60.0)
        answer(handler, page(value).encode() if value is not None else b"starting")

    with serving(serve) as server:
        done = collect(path, server.url, said, scrapes=5)
    assert done.failed == 1
    assert done.ok >= 4
    assert [line for line in said if "scrape failed" in line] == [
        "scrape failed: the page has no metric whose name begins with vllm:"
    ]
    with open_readings(path) as readings:
        rows = readings.connection.execute(
            "SELECT sequence_number, status, error, sample_count FROM metric_scrapes ORDER BY 1 LIMIT 4"
        ).fetchall()
        times = readings.connection.execute(
            "SELECT epoch_us(scraped_at) FROM metric_scrapes WHERE status = 'ok' ORDER BY 1"
        ).fetchall()
        begun, ended = (at(times[index][0] / 1e6 - NOON.timestamp()) for index in (0, -1))
        assert readings.counter(TOKENS, begun, ended) == pytest.approx(50 + 30 + 30)
        assert readings.resets(TOKENS, begun, ended) == 1
    assert [row[:2] for row in rows] == [(1, "ok"), (2, "ok"), (3, "error"), (4, "ok")]
    assert rows[2][2:] == ("the page has no metric whose name begins with vllm:", 0)


def test_the_rate_is_fixed_and_a_slow_answer_is_skipped_over(path: Path) -> None:
    slow = iter([0.0, 0.3])

    def serve(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(next(slow, 0.0))
        answer(handler, page(1).encode())

    with serving(serve) as server:
        begun = time.monotonic()
        collect(path, server.url, [], interval_seconds=0.1, scrapes=4)
        asked = [moment - begun for moment in server.asked]
    # The second one was over after its successors were due; a busy machine makes each later, nothing earlier.
    assert [moment >= due for moment, due in zip(asked, (0.0, 0.1, 0.5, 0.6), strict=False)] == [True] * 4


def test_storage_that_fails_is_told_once_and_no_scrape_is_lost(path: Path) -> None:
    said: list[str] = []
    with serving(counting()) as server:
        done = collect(path, server.url, said, scrapes=4, failures=3)
    assert done.lost == 0
    assert scrapes(path) == (done.ok, 0)
    assert [line for line in said if "no space" in line] == [
        "the collector database cannot be written: no space; 1 scrapes wait"
    ]


READER = """
import sys
from pathlib import Path
import duckdb
from runner.serving.readings import open_readings
path, seen = Path(sys.argv[1]), []
while not seen or seen[-1] < int(sys.argv[2]):
    with open_readings(path) as readings:
        seen.append(readings.sessions()[-1].scrapes_ok)
    with duckdb.connect(str(path), read_only=True) as plain:
        plain.execute("SELECT count(*) FROM vllm_metric_samples").fetchall()
assert seen == sorted(seen)
print(len(seen))
"""


def test_in_the_background_it_is_read_stopped_killed_started_again_and_archived(
    path: Path, tmp_path: Path
) -> None:
    with serving(counting()) as server:
        pid = start(settings(path, server.url), environment(), PROJECT)
        assert holder_of(path) == pid
        assert os.getsid(pid) == pid
        # Another process reads, with ours and with a plain connection, while it collects.
        reader = subprocess.run(
            [sys.executable, "-c", READER, str(path), "12"],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert reader.returncode == 0, reader.stderr
        found = status(path)
        assert found.pid == pid
        assert found.session is not None
        assert found.session.scrapes_failed == 0
        lines = list(status_lines(found, found.session.started_at))
        assert lines[0] == f"collecting, process {pid}"
        os.kill(pid, signal.SIGKILL)
        until(lambda: holder_of(path) is None, "the end")
        found = status(path)
        assert found.ended_unexpectedly
        assert "ended unexpectedly" in next(status_lines(found, NOON))
        lost_nothing = scrapes(path)[0]
        assert lost_nothing >= 12

        again = start(settings(path, server.url, session_name="again"), environment(), PROJECT)
        until(lambda: scrapes(path)[0] >= 2, "scrapes")
        assert stop(path) == again
        assert stop(path) is None
    found = status(path)
    assert (found.sessions, found.pid, found.ended_unexpectedly) == (2, None, False)
    assert not spool_of(path).exists()
    assert "ended: " in log_of(path).read_text()
    kept = archive(path, tmp_path / "kept", NOON, model="Vendor/Model-1")
    assert kept.path.name == "vendor-model-1_again_20260131t120000z.duckdb"
    assert not path.exists()
    with open_readings(kept.path) as readings:
        first, second = readings.sessions()
        assert (first.scrapes_ok, first.stopped_at) == (lost_nothing, None)
        assert second.stopped_at is not None
        # Both sessions are one line of counting.
        assert readings.counter(TOKENS, first.started_at, second.stopped_at) is None
    with duckdb.connect(str(kept.path), read_only=True) as plain:
        assert plain.execute("SELECT count(*) FROM vllm_metric_deltas WHERE delta <> 10").fetchall()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_session_cleanly_even_while_the_server_is_silent(
    path: Path, number: signal.Signals
) -> None:
    over = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        if len(server.asked) > 1:
            over.wait(120)
        answer(handler, page(1).encode())

    with serving(silent) as server:
        given = settings(path, server.url, timeout_seconds=120.0)
        process = subprocess.Popen(
            [sys.executable, "-m", "runner.serving.collecting", given.model_dump_json()],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            until(lambda: len(server.asked) > 1, "the second question")
            process.send_signal(number)
            said = process.communicate(timeout=60)[0]
        over.set()
    assert process.returncode == 0
    assert "ended: 1 scrapes, 0 failed" in said
    found = status(path)
    assert found.session is not None
    assert found.session.stopped_at is not None


def test_a_bound_collector_ends_with_its_context_and_outlives_a_restart_of_the_server(path: Path) -> None:
    with held_port() as port, ExitStack() as bound:
        with serving(counting(1000), port) as server:
            bound.enter_context(collecting(settings(path, server.url), environment(), PROJECT))
        until(lambda: scrapes(path)[1] > 1, "failed scrapes")
        before = scrapes(path)[0]
        with serving(counting(), port):
            until(lambda: scrapes(path)[0] > before + 1, "scrapes of the new server")
            bound.close()
    assert holder_of(path) is None
    with open_readings(path) as readings:
        (session,) = readings.sessions()
        assert session.stopped_at is not None
        assert "ConnectError" in (session.last_error or "")
        assert session.last_scrape_at is not None
        assert readings.resets(TOKENS, session.started_at, session.last_scrape_at) == 1


def test_a_collector_that_cannot_begin_says_why(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    path.write_text("no database")
    with pytest.raises(ConfigurationError, match="cannot be used"):
        start(settings(path, "http://127.0.0.1:1/metrics"), environment(), PROJECT)
    assert holder_of(path) is None
