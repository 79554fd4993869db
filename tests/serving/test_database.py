"""The collector's database: folding, what a killed collector leaves, one writer, readers at any time."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from runner.errors import StoreError, UsageError
from runner.serving import database as module
from runner.serving.database import Answer, holder_of, lock_of, opened
from runner.serving.exposition import Sample
from runner.serving.readings import open_readings
from runner.serving.spool import read_spool, spool_of
from tests.serving.stage import LABELS, NOON, PROJECT, RUNNING, TOKENS, at, collected, counted


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "metrics" / "m.duckdb"


def growth(path: Path, start: float, end: float) -> float | None:
    with open_readings(path) as readings:
        return readings.counter(TOKENS, at(start), at(end))


def test_scrapes_can_be_read_before_and_after_they_are_folded(path: Path) -> None:
    with collected(path) as database:
        for second in range(4):
            database.append(counted(second, 10.0 * second))
        assert growth(path, 0, 3) == 30
        database.fold()
        database.append(counted(4, 40.0))
        assert growth(path, 0, 4) == 40
        database.append(Answer(at(5), 1.0, [], "connection refused"))
        database.end(at(6))
    assert not spool_of(path).exists()
    with open_readings(path) as readings:
        (session,) = readings.sessions()
        assert (session.scrapes_ok, session.scrapes_failed, session.last_error) == (
            5,
            1,
            "connection refused",
        )
        assert (session.started_at, session.stopped_at) == (NOON, at(6))
        assert session.last_scrape_at == at(5)
        assert readings.metrics() == {TOKENS}


def test_the_tables_and_views_have_every_promised_column(path: Path) -> None:
    with collected(path) as database:
        database.append(counted(0, 5.0))
        database.append(counted(1, 7.0))
        database.append(counted(2, 1.0))
        database.end(at(3))
    wanted = {
        "collector_sessions": "session_id session_name started_at stopped_at metrics_url interval_seconds "
        "collector_pid",
        "metric_scrapes": "scrape_id session_id sequence_number scraped_at scrape_duration_ms status error "
        "sample_count",
        "metric_samples": "scrape_id metric metric_type labels value",
        "vllm_metric_samples": "session_name sequence_number scraped_at metric value model_name engine",
        "vllm_metric_deltas": "session_id metric labels value delta",
    }
    with duckdb.connect(str(path), read_only=True) as plain, open_readings(path) as readings:
        for connection in (plain, readings.connection):
            for table, names in wanted.items():
                columns = {row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()}
                assert set(names.split()) <= columns, table
            rows = connection.execute(
                "SELECT delta, model_name, engine FROM vllm_metric_deltas ORDER BY sequence_number"
            ).fetchall()
            assert rows == [(None, "m", "0"), (2.0, "m", "0"), (-6.0, "m", "0")]


def test_a_value_that_is_no_number_is_null_and_joins_no_figure(path: Path) -> None:
    with collected(path) as database:
        for second, value in enumerate([2.0, None, 4.0]):
            database.append(Answer(at(second), 1.0, [Sample(RUNNING, "gauge", LABELS, value)]))
        database.end(at(3))
    with open_readings(path) as readings:
        found = readings.gauge(RUNNING, at(0), at(2))
        assert found is not None
        assert (found.samples, found.mean) == (2, 3.0)
        assert readings.connection.execute(
            "SELECT count(*) FROM metric_samples WHERE value IS NULL"
        ).fetchall() == [(1,)]


def test_a_collector_killed_in_the_middle_of_a_line_loses_only_that_line(path: Path) -> None:
    with collected(path) as database:
        database.append(counted(0, 1.0))
        database.append(counted(1, 2.0))
    # As after kill -9: nothing was ended, and half a line stands at the end.
    with spool_of(path).open("ab") as spool:
        spool.write(b'{"scrape":[9,1,9,176')
    with open_readings(path) as readings:
        (session,) = readings.sessions()
        assert (session.scrapes_ok, session.stopped_at) == (2, None)
    with collected(path, "again") as database:
        database.append(counted(10, 7.0))
        database.end(at(11))
    with open_readings(path) as readings:
        first, second = readings.sessions()
        assert (first.session_name, first.stopped_at, first.scrapes_ok) == ("s", None, 2)
        assert (second.session_name, second.stopped_at, second.scrapes_ok) == ("again", at(11), 1)
        assert readings.counter(TOKENS, at(0), at(10)) == 6
    with open_readings(path, "again") as readings:
        assert readings.counter(TOKENS, at(0), at(10)) is None


def test_a_collector_killed_between_folding_and_emptying_the_spool_counts_nothing_twice(path: Path) -> None:
    with collected(path) as database:
        database.append(counted(0, 1.0))
        database.append(counted(1, 2.0))
        spool = spool_of(path).read_bytes()
        database.fold()
        spool_of(path).write_bytes(spool)
    assert growth(path, 0, 1) == 1
    with open_readings(path) as readings:
        assert readings.sessions()[0].scrapes_ok == 2
    with collected(path) as database:
        database.end(at(2))
    with open_readings(path) as readings:
        assert readings.sessions()[0].scrapes_ok == 2
        assert readings.connection.execute("SELECT count(*) FROM metric_points").fetchall() == [(2,)]


def test_a_second_writer_is_refused_and_told_who_writes(path: Path) -> None:
    with collected(path):
        assert holder_of(path) == os.getpid()
        with pytest.raises(UsageError, match=f"process {os.getpid()} collects"), opened(path):
            pass
    assert holder_of(path) is None
    assert holder_of(path.with_name("other.duckdb")) is None


def test_a_lock_file_with_nonsense_holds_nobody_up(path: Path) -> None:
    path.parent.mkdir()
    lock_of(path).write_bytes(b"\xff\xfe not a number" * 9)
    with collected(path) as database:
        database.append(counted(0, 1.0))
    assert holder_of(path) is None


def test_readers_in_other_threads_see_every_scrape_whatever_is_folded_meanwhile(path: Path) -> None:
    faults: list[str] = []
    seen: list[int] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                with open_readings(path) as readings:
                    seen.append(readings.sessions()[-1].scrapes_ok)
        except (StoreError, duckdb.Error) as error:
            faults.append(str(error))

    with collected(path) as database:
        database.append(counted(0, 0.0))
        reader = threading.Thread(target=read)
        reader.start()
        for second in range(1, 41):
            database.append(counted(second, float(second)))
            if second % 4 == 0:
                database.fold()
        done.set()
        reader.join()
    assert faults == []
    assert seen == sorted(seen)
    assert growth(path, 0, 40) == 40


READER = """
import sys, time
from pathlib import Path
from runner.serving.readings import open_readings
path = Path(sys.argv[1])
with open_readings(path) as readings:
    print("open", flush=True)
    sys.stdin.readline()
    print(readings.sessions()[-1].scrapes_ok, flush=True)
"""


def test_a_reader_that_keeps_the_database_open_stops_no_fold_and_keeps_what_it_saw(path: Path) -> None:
    with collected(path) as database:
        database.append(counted(0, 0.0))
        database.fold()
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, str(path)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            assert reader.stdout.readline() == "open\n"
            for second in range(1, 6):
                database.append(counted(second, 1.0 * second))
                database.fold()
            reader.stdin.write("\n")
            reader.stdin.flush()
            assert reader.stdout.readline() == "1\n"
        assert reader.returncode == 0
        with open_readings(path) as readings:
            assert readings.sessions()[-1].scrapes_ok == 6


def test_a_collector_starts_while_somebody_looks_whether_one_is_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir()
    looking = lock_of(path).open("w")
    fcntl.flock(looking, fcntl.LOCK_SH)
    # The look is over before the second try.
    monkeypatch.setattr(time, "sleep", lambda _: looking.close())
    with opened(path):
        assert holder_of(path) == os.getpid()


FULL = """
import signal, sys
from pathlib import Path
import resource
from runner.errors import StoreError
from tests.serving.stage import collected, counted, at
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
with collected(path) as database:
    database.append(counted(0, 0.0))
    size = database.spool.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
    try:
        database.append(counted(1, 1.0))
    except StoreError as error:
        print(error.what)
    assert database.spool.stat().st_size == size
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    database.append(counted(2, 2.0))
    database.end(at(3))
"""


def test_a_full_disk_is_told_and_leaves_no_half_line(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be written" in done.stdout
    with open_readings(path) as readings:
        rows = readings.connection.execute("SELECT sequence_number FROM metric_scrapes ORDER BY 1").fetchall()
    assert rows == [(1,), (2,)]
    assert growth(path, 0, 2) == 2


def test_a_server_that_invents_labels_is_stopped_at_a_bound(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SERIES", 5)
    with collected(path) as database:
        for second in range(4):
            samples = [Sample(TOKENS, "counter", f'{{"i":"{second}-{index}"}}', 1.0) for index in range(3)]
            database.append(Answer(at(second), 1.0, samples))
        database.end(at(5))
    with open_readings(path) as readings:
        (session,) = readings.sessions()
        assert (session.scrapes_ok, session.scrapes_failed) == (1, 3)
        assert "more than 5 series" in (session.last_error or "")


@pytest.mark.parametrize("content", [b"not a database", b"", b"DUCK" * 2000])
def test_a_file_that_is_no_database_is_refused_with_its_name(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught, open_readings(path) as readings:
        readings.sessions()
    assert caught.value.where == str(path)
    with pytest.raises(StoreError), collected(path):
        pass
    assert path.read_bytes() == content


def test_a_spool_with_foreign_lines_is_refused_with_the_line(path: Path) -> None:
    with collected(path) as database:
        database.append(counted(0, 1.0))
    with spool_of(path).open("ab") as spool:
        spool.write(b'{"scrape":[1]}\n')
    with pytest.raises(StoreError, match="line 3"):
        read_spool(spool_of(path))
    with pytest.raises(StoreError, match="line 3"), open_readings(path):
        pass


def test_a_database_cannot_make_its_reader_read_another_file(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    with collected(path) as database:
        database.end(at(1))
    with duckdb.connect(str(path)) as evil:
        evil.execute("DROP VIEW metric_samples")
        evil.execute("CREATE VIEW metric_samples AS FROM read_text($$" + str(secret) + "$$)")
    with open_readings(path) as readings, pytest.raises(duckdb.Error, match="disabled"):
        readings.connection.execute("SELECT * FROM kept.main.metric_samples").fetchall()


def test_a_clock_that_was_set_back_makes_no_negative_time(path: Path) -> None:
    with collected(path) as database:
        for second, value in [(0, 0.0), (10, 100.0), (4, 110.0), (11, 120.0)]:
            database.append(counted(second, value))
        database.end(at(12))
    with open_readings(path) as readings:
        assert readings.counter(TOKENS, at(0), at(11)) == 120
        assert readings.widest_gap(at(0), at(11)) == 10
        assert readings.resets(TOKENS, at(0), at(11)) == 0


def test_only_label_sets_that_are_asked_for_are_counted(path: Path) -> None:
    with collected(path) as database:
        for second in range(3):
            samples = [
                Sample(TOKENS, "counter", f'{{"engine":"{engine}","model_name":"m"}}', second * 10.0**engine)
                for engine in range(3)
            ]
            database.append(Answer(at(second), 1.0, samples))
        database.end(at(3))
    with open_readings(path) as readings:
        assert readings.counter(TOKENS, at(0), at(2)) == 222
        assert readings.counter(TOKENS, at(0), at(2), {"engine": "1", "model_name": "m"}) == 20
        assert readings.counter(TOKENS, at(0), at(2), {"engine": "7"}) is None
        assert readings.counter("vllm:nothing", at(0), at(2)) is None
        assert readings.counter(TOKENS, at(0), at(2) + timedelta(seconds=1)) is None
        histogram = readings.histogram("vllm:nothing", at(0), at(2))
        assert histogram is None
