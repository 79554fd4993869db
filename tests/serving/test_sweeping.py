"""Levels follow each other from idle to idle; a finished one is never lost and never measured again."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runner.errors import EndpointError
from runner.records import Level, LoadSession, Workload
from runner.replay import STAND_IN, ReplayServer, ServiceTimes
from runner.serving.collector import CollectorSettings
from runner.serving.control import collecting
from runner.serving.idle import Business, read_business
from runner.serving.sweeping import Interrupted, LevelFailed, Sweeping, failure_of, level_line
from tests.replay.tapes import tape

ROOT = Path(__file__).parents[2]


class Idler:
    """A load that does nothing but say that it was there."""

    workload = Workload(kind="synthetic-sessions", description="nothing")

    def __init__(self) -> None:
        self.began: list[int] = []
        self.warm = 0
        self.ended = 0
        self.late = 0.0

    def warm_up(self) -> None:
        self.warm += 1

    def begin(self, concurrency: int, seconds: float) -> None:
        self.began.append(concurrency)
        self._at = datetime.now(UTC)

    def asked(self) -> None:
        """Nobody knows."""

    def end(self) -> tuple[LoadSession, ...]:
        self.ended += 1
        day = timedelta(days=1)
        return tuple(
            LoadSession(
                slot=slot, task=str(slot), status="ok", started_at=self._at + late, ended_at=self._at + day
            )
            for slot, late in enumerate((timedelta(), day))
        )


class Shelf:
    """Keeps levels in memory."""

    def __init__(self, *levels: int) -> None:
        self.levels = {each: Level(concurrency=each) for each in levels}

    def finished(self) -> dict[int, Level]:
        return dict(self.levels)

    def keep(self, level: Level) -> None:
        self.levels[level.concurrency] = level


@dataclass(frozen=True)
class Watched:
    """An idle replay server whose collector is at work."""

    url: str
    database: Path

    def sweep(self, load: Idler, shelf: Shelf, **more: object) -> tuple[Sweeping, list[str]]:
        """A sweep of it, and what it says."""
        said: list[str] = []
        parts: dict[str, object] = {
            "model": STAND_IN,
            "levels": (1, 2),
            "window_seconds": 0.3,
            "interval_seconds": 0.1,
            "idle_limit_seconds": 20.0,
            "load": load,
            "database": self.database,
            "look": lambda: read_business(self.url),
            "keeper": shelf,
            "stop": threading.Event(),
            "say": said.append,
            "look_seconds": 0.01,
            **more,
        }
        return Sweeping(**parts), said  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    with ReplayServer(tape(folder), service=ServiceTimes()) as server:
        url = f"{server.base_url}/metrics"
        settings = CollectorSettings(
            database=str(folder / "metrics.duckdb"), metrics_url=url, session_name="s", interval_seconds=0.1
        )
        with collecting(settings, os.environ, ROOT) as database:
            yield Watched(url, database)


def test_every_level_has_its_own_window_and_only_what_began_within_it(watched: Watched) -> None:
    load, shelf = Idler(), Shelf()
    sweep, said = watched.sweep(load, shelf)
    found = sweep.run()
    assert (load.began, load.warm, load.ended) == ([1, 2], 1, 2)
    assert [each.concurrency for each in found] == [1, 2]
    for level in found:
        assert level.started_at is not None
        assert level.ended_at is not None
        length = (level.ended_at - level.started_at).total_seconds()
        assert length >= 0.3
        assert level.window_seconds == pytest.approx(length, abs=1e-3)
        assert level.prompt_tokens_per_second == 0
        (session,) = level.sessions
        assert (session.status, session.ended_at) == ("cutoff", level.ended_at)
    assert found[0].ended_at is not None
    assert found[1].started_at is not None
    assert found[0].ended_at <= found[1].started_at
    assert level_line(found[0]) in said
    told = found[0].model_copy(update={"successful_requests": 7, "sessions": found[0].sessions[:1]})
    assert level_line(told).endswith("; 7 requests in 1 session")
    assert "on average first token" in level_line(told)


def test_a_level_that_is_kept_is_not_measured_again(watched: Watched) -> None:
    load, shelf = Idler(), Shelf(1)
    before = shelf.levels[1]
    sweep, said = watched.sweep(load, shelf)
    found = sweep.run()
    assert load.began == [2]
    assert found[0] is before
    assert "level 1 is measured already" in said


def test_where_everything_is_kept_nothing_is_asked(watched: Watched) -> None:
    def never() -> Business:
        raise AssertionError("nobody was to ask")

    load, shelf = Idler(), Shelf(1, 2)
    sweep, _ = watched.sweep(load, shelf, look=never)
    assert len(sweep.run()) == 2
    assert (load.began, load.warm) == ([], 0)


def test_a_stop_gives_up_the_level_in_hand_and_ends_its_load(watched: Watched) -> None:
    stop, shelf = threading.Event(), Shelf()

    class Stopping(Idler):
        def begin(self, concurrency: int, seconds: float) -> None:
            super().begin(concurrency, seconds)
            if concurrency == 2:
                stop.set()

    load = Stopping()
    sweep, _ = watched.sweep(load, shelf, stop=stop)
    with pytest.raises(Interrupted):
        sweep.run()
    assert sorted(shelf.levels) == [1]
    assert load.ended == 2


def test_a_busy_server_lets_no_level_begin(watched: Watched) -> None:
    load, shelf = Idler(), Shelf()
    busy = Business(1, 0)
    sweep, _ = watched.sweep(load, shelf, look=lambda: busy, idle_limit_seconds=0.05)
    with pytest.raises(EndpointError, match="still has 1 requests running"):
        sweep.run()
    assert load.began == []


def ended(status: str, turns: int | None = 0, error: str | None = None) -> LoadSession:
    """A session that ended so."""
    return LoadSession.model_validate(
        {
            "slot": 0,
            "task": "t",
            "status": status,
            "started_at": datetime.now(UTC),
            "ended_at": datetime.now(UTC),
            "turns": turns,
            "error": error,
        }
    )


BROKEN = ended("error", 3, "the server broke off")


@pytest.mark.parametrize(
    ("sessions", "output", "why"),
    [
        ([BROKEN, ended("error")], 7.0, "none of 2 sessions was answered, first: the server broke off"),
        ([BROKEN, ended("cutoff")], 7.0, "none of 2 sessions was answered, first: the server broke off"),
        ([ended("cutoff")], 0.0, "none of 1 sessions was answered"),
        ([], None, "no session of the load began"),
        ([BROKEN, ended("ok", 4)], 7.0, None),
        ([BROKEN, ended("cutoff", 1)], 7.0, None),
        ([ended("cutoff")], 7.0, None),
        ([ended("cutoff", None)], None, None),
    ],
)
def test_a_level_without_a_session_that_succeeded_is_no_measurement(
    sessions: list[LoadSession], output: float | None, why: str | None
) -> None:
    level = Level(concurrency=2, sessions=tuple(sessions), output_tokens_per_second=output)
    assert failure_of(level) == why


def test_a_level_whose_sessions_all_failed_is_not_stored_as_zero_tokens_a_second(watched: Watched) -> None:
    class Failing(Idler):
        def end(self) -> tuple[LoadSession, ...]:
            sessions = super().end()
            if self.began[-1] == 1:
                return sessions
            return tuple(
                each.model_copy(update={"status": "error", "ended_at": each.started_at, "error": "refused"})
                for each in sessions
            )

    shelf = Shelf()
    sweep, said = watched.sweep(Failing(), shelf)
    with pytest.raises(LevelFailed, match="level 2 failed: none of 1 sessions was answered, first: refused"):
        sweep.run()
    assert sorted(shelf.levels) == [1]
    assert not [line for line in said if line.startswith("level 2: prompt")]


def test_a_level_at_whose_end_the_metrics_are_silent_is_not_stored(tmp_path: Path) -> None:
    class Killing(Idler):
        def begin(self, concurrency: int, seconds: float) -> None:
            super().begin(concurrency, seconds)
            server.close()

    shelf = Shelf()
    with ExitStack() as server:
        running = server.enter_context(ReplayServer(tape(tmp_path), service=ServiceTimes()))
        url = f"{running.base_url}/metrics"
        settings = CollectorSettings(
            database=str(tmp_path / "metrics.duckdb"), metrics_url=url, session_name="s", interval_seconds=0.1
        )
        with collecting(settings, os.environ, ROOT) as database:
            sweep, _ = Watched(url, database).sweep(Killing(), shelf, late_seconds=0.3)
            with pytest.raises(LevelFailed, match="level 1 failed: the server's metrics were not read"):
                sweep.run()
    assert shelf.levels == {}
