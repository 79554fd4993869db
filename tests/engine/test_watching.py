"""A run collects the metrics of the server that its model runs on, and keeps them as one archive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.engine.watching import Watching
from runner.providers.base import metrics_page
from runner.records import TrialRecord, sha256_of
from runner.replay import ReplayServer
from runner.replay.service import ServiceTimes
from runner.serving.readings import open_readings
from runner.store import ResultsStore
from tests.engine.runs import demonstration, run

TASK = "hello-world/fair-rounding"
SLOW = ServiceTimes(capacity=4, prefill_seconds_per_token=0.0, output_seconds_per_token=0.001)


@pytest.fixture
def server(places: Places) -> Iterator[ReplayServer]:
    with ReplayServer(places.cassettes, service=SLOW) as running:
        yield running


def flags(server: ReplayServer) -> dict[str, object]:
    base = server.url_for(run="elsewhere", scenario=TASK)
    return {
        "provider": "endpoint",
        "endpoint": f"{base}/v1",
        "model": "replay-careful",
        "harness": "loop",
        "dataset": "hello-world",
        "tasks": TASK.partition("/")[2],
        "hosting": "self-hosted",
        "skill": "fix",
        "isolation": "none",
    }


def archives(places: Places) -> list[Path]:
    return sorted((places.metrics / "archives").glob("*.duckdb"))


def records(places: Places) -> list[TrialRecord]:
    return [each.record for each in ResultsStore(places.results).trials()]


def test_a_run_on_a_server_with_metrics_leaves_an_archive_and_fills_the_window(
    places: Places, server: ReplayServer
) -> None:
    code, output = run(places, flags(server))
    assert code == 0, output
    (archive,) = archives(places)
    (record,) = records(places)
    assert re.fullmatch(rf"replay-careful_{record.plan_id}_\d{{8}}t\d{{6}}z\.duckdb", archive.name)
    said = " ".join(output.split())
    assert sha256_of(archive.read_bytes()) in said.replace(" ", "")
    (invocation,) = record.invocations
    window = invocation.server_window
    assert window is not None
    assert window.prompt_tokens
    assert window.histograms["e2e_request_latency_seconds"].count == window.requests_finished
    running = window.gauges["num_requests_running"]
    assert running.samples >= 2
    assert 0 <= running.mean <= running.peak <= 1
    with open_readings(archive) as readings:
        (session,) = readings.sessions()
        assert session.stopped_at is not None
        assert session.scrapes_failed == 0
        grown = readings.counter("vllm:generation_tokens_total", session.started_at, invocation.ended_at)
    assert grown is None or grown <= (window.generation_tokens or 0)
    assert str(places.root) not in archive.read_bytes().decode("latin-1")


def test_the_demonstration_starts_no_collector(whole: tuple[Places, str]) -> None:
    places, output = whole
    assert "metrics of" not in output
    assert not places.metrics.exists()
    for stored in demonstration(places).trials():
        for invocation in stored.record.invocations:
            assert invocation.server_window is None or not invocation.server_window.gauges


def test_a_collector_that_cannot_start_is_told_and_the_run_goes_on(
    places: Places, server: ReplayServer
) -> None:
    places.artifacts.mkdir(exist_ok=True)
    places.metrics.write_text("no folder")
    code, output = run(places, flags(server))
    assert code == 0, output
    assert "metrics of replay-careful's server are not collected" in " ".join(output.split())
    assert len(records(places)) == 1


def test_a_session_without_an_address_has_no_page() -> None:
    class Bare:
        metrics_url = None

    assert metrics_page(Bare()) is None  # type: ignore[arg-type]
    assert metrics_page(object()) is None  # type: ignore[arg-type]


def test_nothing_is_collected_twice_from_one_page(places: Places, server: ReplayServer) -> None:
    said: list[str] = []
    with Watching(places, "plan-1", said.append).of([]):
        assert not places.metrics.exists()
    assert said == []
    assert [path.name for path in places.root.iterdir()] == ["datasets"]
