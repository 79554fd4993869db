"""Tiles and panels say what the server did: rates, means, new beginnings, holes, and what is not told."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.telemetry.bins import MOST, Bins
from generators.telemetry.panels import Telemetry, read_telemetry
from generators.telemetry.reading import open_archive
from runner.errors import StoreError, UsageError
from tests.generators.telemetry.archives import (
    GAP,
    OUTPUT,
    PROMPT,
    QUEUE,
    SECONDS,
    TTFT,
    WHOLE,
    Told,
    steady,
    written,
)


def read(path: Path) -> Telemetry:
    with open_archive(path) as archive:
        return read_telemetry(archive)


def tiles(found: Telemetry) -> dict[str, float | None]:
    return {tile.title: tile.value for tile in found.tiles}


def points(found: Telemetry, title: str, line: int = 0) -> list[float | None]:
    panels = (*found.throughput, *found.scheduler, *found.latency)
    return list(next(panel for panel in panels if panel.title == title).lines[line].points)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Telemetry:
    return read(written(tmp_path_factory.mktemp("telemetry") / "m.duckdb"))


def test_every_tile_agrees_with_what_the_server_did(found: Telemetry) -> None:
    assert tiles(found) == pytest.approx(
        {
            "Duration": SECONDS,
            "Tokens": (PROMPT + OUTPUT) * SECONDS / 1e6,
            "Prompt throughput": PROMPT,
            "Generation throughput": OUTPUT,
            "Completed requests": SECONDS,
            "Mean time to first token": TTFT * 1000,
            "Mean time per output token": GAP * 1000,
            "Mean whole request": WHOLE,
            "Peak concurrency": 5,
            "Prefix-cache hits": 75,
            "Peak key-value cache": 50,
        }
    )


def test_every_panel_agrees_with_what_the_server_did(found: Telemetry) -> None:
    assert points(found, "Prompt tokens") == pytest.approx([PROMPT] * len(found.middles))
    assert points(found, "Generated tokens") == pytest.approx([OUTPUT] * len(found.middles))
    assert points(found, "Time to first token") == pytest.approx([TTFT * 1000] * len(found.middles))
    assert points(found, "Between two tokens") == pytest.approx([GAP * 1000] * len(found.middles))
    assert points(found, "Waiting in the queue") == pytest.approx([QUEUE * 1000] * len(found.middles))
    assert points(found, "Whole request") == pytest.approx([WHOLE * 1000] * len(found.middles))
    assert points(found, "Requests in the scheduler", 1) == pytest.approx([1.0] * len(found.middles))
    assert max(each or 0 for each in points(found, "Key-value cache in use")) == pytest.approx(50)
    assert [(bar.name, bar.count) for bar in found.ends] == [("stop", SECONDS)]


def test_facts_of_sessions_and_scrapes_are_told(found: Telemetry) -> None:
    assert found.models == ("vendor/model-1",)
    assert (found.scrapes.answered, found.scrapes.failed, found.scrapes.last_error) == (SECONDS + 1, 0, "")
    (session,) = found.sessions
    assert (session.name, session.interval_seconds) == ("evening", 1.0)
    assert session.stopped_at is not None


def test_a_server_that_began_anew_has_no_negative_rate_and_loses_no_tokens(tmp_path: Path) -> None:
    found = read(
        written(tmp_path / "m.duckdb", lambda second: steady(second if second < 60 else second - 60))
    )
    rates = points(found, "Generated tokens")
    assert all(rate is not None and rate >= 0 for rate in rates)
    # What was counted between the last scrape before and the new beginning cannot be known.
    assert tiles(found)["Tokens"] == pytest.approx((PROMPT + OUTPUT) * (SECONDS - 1) / 1e6)


def test_scrapes_that_failed_are_a_hole_and_not_zero(tmp_path: Path) -> None:
    def told(second: float) -> Told | None:
        return None if 40 <= second < 70 else steady(second)

    found = read(written(tmp_path / "m.duckdb", told))
    assert (found.scrapes.failed, found.scrapes.last_error) == (30, "connection refused")
    for title in ("Prompt tokens", "Key-value cache in use"):
        hole = [
            value
            for middle, value in zip(found.middles, points(found, title), strict=True)
            if 42 < middle < 68
        ]
        assert hole
        assert set(hole) == {None}
    assert points(found, "Prompt tokens")[-1] == pytest.approx(PROMPT)


def test_what_the_server_does_not_tell_is_unknown_and_never_zero(tmp_path: Path) -> None:
    found = read(written(tmp_path / "m.duckdb", lambda _: {"num_requests_running": 1.0}))
    values = tiles(found)
    assert {title for title, value in values.items() if value is not None} == {
        "Duration",
        "Completed requests",
        "Peak concurrency",
    }
    assert set(points(found, "Time to first token")) == {None}
    assert found.traffic == "none"


@pytest.mark.parametrize("seconds", [0, 1, 2])
def test_an_archive_of_few_scrapes_has_few_points_and_no_fault(tmp_path: Path, seconds: int) -> None:
    found = read(written(tmp_path / "m.duckdb", seconds=seconds))
    assert found.scrapes.answered == seconds + 1
    assert len(found.middles) == (1 if seconds else 0)
    assert tiles(found)["Duration"] == (seconds or None)


def test_engines_are_summed_but_for_shares(tmp_path: Path) -> None:
    path = written(tmp_path / "m.duckdb", lambda _: {"kv_cache_usage_perc": 0.2, "num_requests_running": 2.0})
    with duckdb.connect(str(path)) as database:
        database.execute(
            "INSERT INTO metric_series SELECT series_id + 100, metric, metric_type, labels FROM metric_series"
        )
        database.execute(
            "INSERT INTO metric_points SELECT scrape_id, series_id + 100, value FROM metric_points"
        )
    values = tiles(read(path))
    assert values["Peak concurrency"] == 4
    assert values["Peak key-value cache"] == pytest.approx(20)
    assert values["Completed requests"] == 2 * SECONDS


@pytest.mark.parametrize("content", [b"", b"no database", b"DUCK" * 1000])
def test_a_file_that_is_no_archive_is_refused_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.duckdb"
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        read(path)
    assert caught.value.where == str(path)
    with pytest.raises(UsageError, match="no such archive"):
        read(tmp_path / "none.duckdb")


def test_a_file_of_another_kind_is_not_called_an_in_memory_database(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(StoreError, match="not a DuckDB file") as caught:
        read(path)
    assert "invoke metrics archive" in caught.value.remedy


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE metric_scrapes (a INTEGER)")
    with pytest.raises(StoreError, match="no table collector_sessions"):
        read(path)


@pytest.mark.parametrize(
    "attack", ["read_text('{0}')", "read_csv('{0}', header=false)", "read_blob('/etc/passwd')", "glob('/*')"]
)
def test_an_archive_cannot_make_its_reader_read_another_file(tmp_path: Path, attack: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("secret\n")
    path = written(tmp_path / "m.duckdb", seconds=2)
    with duckdb.connect(str(path)) as database:
        for view in ("metric_samples", "vllm_metric_samples", "vllm_metric_deltas"):
            database.execute(f"DROP VIEW {view}")
        database.execute("DROP TABLE collector_sessions")
        database.execute("CREATE VIEW collector_sessions AS FROM " + attack.format(secret))
    with pytest.raises(StoreError, match="no table collector_sessions") as caught:
        read(path)
    assert "secret" not in caught.value.what


def test_a_name_that_names_a_file_is_only_a_name(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    path = written(tmp_path / "m.duckdb", model=f"'; FROM '{secret}", seconds=3)
    assert read(path).models == (f"'; FROM '{secret}",)


@given(
    st.lists(st.floats(0.05, 30), min_size=1, max_size=400),
    st.floats(1, 1e5),
)
def test_rates_over_all_bins_add_up_to_the_growth(steps: list[float], rate: float) -> None:
    times = np.concatenate(([1e9], 1e9 + np.cumsum(steps)))
    growth = np.concatenate(([np.nan], np.diff(times) * rate))
    bins = Bins(times, longest_step=1e6)
    assert 1 <= bins.count <= MOST
    rates = [each for each in bins.rates(growth) if each is not None]
    assert rates == pytest.approx([rate] * len(rates), rel=1e-3)
    assert len(bins.middles) == bins.count
    assert all(0 < middle < bins.span for middle in bins.middles)
