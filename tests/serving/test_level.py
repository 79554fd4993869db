"""A level is measured between its own start and end: exact figures from made-up scrapes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runner.errors import EndpointError
from runner.records import Level, LoadSession
from runner.serving.database import Answer, opened
from runner.serving.exposition import Sample
from runner.serving.level import LevelWindow, level_of
from runner.serving.readings import open_readings

BEGIN = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
Told = Mapping[str, float]
"""Value by name of a sample; labels but model and engine follow after a bar, as in ``name|le=0.3``."""


def at(seconds: float) -> datetime:
    """A moment of the made-up day."""
    return BEGIN + timedelta(seconds=seconds)


def sample(name: str, value: float, model: str = "m", engine: str = "0") -> Sample:
    """One line of the page."""
    metric, _, more = name.partition("|")
    labels = {"engine": engine, "model_name": model}
    if more:
        key, _, word = more.partition("=")
        labels[key] = word
    kind = "histogram" if "_seconds" in metric else "counter" if metric.endswith("_total") else "gauge"
    return Sample(f"vllm:{metric}", kind, json.dumps(labels, sort_keys=True, separators=(",", ":")), value)


@contextmanager
def scraped(folder: Path, pages: Mapping[float, list[Sample]]) -> Iterator[Path]:
    """A database with a scrape at each of these seconds; an empty one failed."""
    database = folder / "metrics.duckdb"
    with opened(database) as held:
        held.begin("test", BEGIN, "http://127.0.0.1:1/metrics", 1.0)
        for seconds, samples in sorted(pages.items()):
            held.append(Answer(at(seconds), 1.0, samples, "" if samples else "no answer"))
        held.end(at(max(pages)))
    yield database


def measured(
    folder: Path, pages: Mapping[float, list[Sample]], start: float, end: float, **more: int
) -> Level:
    """The level between two seconds."""
    with scraped(folder, pages) as database, open_readings(database) as readings:
        return level_of(readings, "m", LevelWindow(more.get("concurrency", 2), at(start), at(end), 1.0))


def steady(prompt: float, output: float, *, idle_after: float = math.inf) -> Callable[[float], Told]:
    """A server that reads and writes so many tokens a second from second 10 on, until it falls idle."""

    def told(second: float) -> Told:
        busy = min(max(second - 10, 0), idle_after - 10)
        at_work = 1.0 if 10 < second <= idle_after else 0.0
        return {
            "prompt_tokens_total": 1000 + prompt * busy,
            "generation_tokens_total": 50 + output * busy,
            "request_success_total|finished_reason=stop": busy,
            "request_success_total|finished_reason=abort": 2,
            "num_requests_running": at_work * 3,
            "num_requests_waiting": at_work,
            "kv_cache_usage_perc": at_work * 0.5,
            "prefix_cache_queries_total": prompt * busy,
            "prefix_cache_hits_total": prompt * busy * 0.75,
            "num_preemptions_total": busy // 10,
            "time_to_first_token_seconds_count": busy,
            "time_to_first_token_seconds_sum": busy * 0.9,
            "time_to_first_token_seconds_bucket|le=0.5": 0,
            "time_to_first_token_seconds_bucket|le=1.0": busy,
            "time_to_first_token_seconds_bucket|le=+Inf": busy,
            "request_queue_time_seconds_count": busy,
            "request_queue_time_seconds_sum": 0,
            "request_queue_time_seconds_bucket|le=0.3": busy,
            "request_queue_time_seconds_bucket|le=+Inf": busy,
            "request_prefill_time_seconds_count": busy,
            "request_prefill_time_seconds_sum": busy * 0.9,
        }

    return told


def pages(
    told: Callable[[float], Told], seconds: range | list[float], model: str = "m"
) -> dict[float, list[Sample]]:
    """A page for each second."""
    return {float(each): [sample(*pair, model) for pair in told(each).items()] for each in seconds}


def test_rates_are_those_of_the_level_and_not_of_the_idle_time_around_it(tmp_path: Path) -> None:
    # As published sweeps were not: 600 s of work, 119 s of idling in the same session of the collector.
    level = measured(tmp_path, pages(steady(1000, 20, idle_after=610), range(0, 730, 10)), 10, 610)
    assert level.prompt_tokens_per_second == pytest.approx(1000)
    assert level.output_tokens_per_second == pytest.approx(20)
    assert level.window_seconds == 600
    assert level.requests_running is not None
    assert level.requests_running.mean == pytest.approx(3, rel=0.02)
    assert level.requests_waiting is not None
    assert level.requests_waiting.mean == pytest.approx(1, rel=0.02)
    assert (level.successful_requests, level.failed_requests, level.preemptions) == (600, 0, 60)
    assert level.prefix_cache_hit_rate == 0.75


def test_latencies_have_means_bounds_and_estimates(tmp_path: Path) -> None:
    level = measured(tmp_path, pages(steady(1000, 20), range(60)), 10, 50)
    assert level.ttft_ms_mean == pytest.approx(900)
    assert level.ttft_ms_lower is not None
    assert level.ttft_ms_estimate is not None
    assert level.ttft_ms_lower.p90 == 500
    assert level.ttft_ms_estimate.p90 == pytest.approx(950)
    assert level.queue_ms_mean == 0
    assert level.queue_ms_upper is not None
    assert (level.queue_ms_upper.p50, level.queue_ms_estimate) == (300, None)
    assert (level.tpot_ms_mean, level.e2e_ms_mean) == (None, None)


@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.floats(10, 25),
    st.floats(5, 30),
    st.floats(1, 5000),
    st.lists(st.floats(0, 60), min_size=5, max_size=30),
)
def test_any_window_of_a_steady_server_has_its_rate_wherever_the_scrapes_lie(
    tmp_path_factory: pytest.TempPathFactory, start: float, length: float, prompt: float, times: list[float]
) -> None:
    every = sorted({0.0, 10.0, 60.0, *(round(each, 3) for each in times)})
    level = measured(tmp_path_factory.mktemp("level"), pages(steady(prompt, 3), every), start, start + length)
    assert level.prompt_tokens_per_second == pytest.approx(prompt, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("start", [10.0, 10.25, 10.9])
def test_what_was_counted_since_the_server_was_idle_is_all_of_the_level(tmp_path: Path, start: float) -> None:
    def told(second: float) -> Told:
        busy = max(second - start, 0)
        return {
            "prompt_tokens_total": 100 * busy,
            "num_requests_running": busy > 0,
            "num_requests_waiting": 0,
        }

    window = LevelWindow(2, at(start), at(20), 1.0, from_idle=True)
    with scraped(tmp_path, pages(told, range(30))) as database, open_readings(database) as readings:
        assert level_of(readings, "m", window).prompt_tokens_per_second == pytest.approx(100)


def test_a_server_that_was_busy_before_shares_the_interval_around_the_start(tmp_path: Path) -> None:
    window = LevelWindow(2, at(15.5), at(25), 1.0, from_idle=True)
    with scraped(tmp_path, pages(steady(100, 2), range(30))) as database, open_readings(database) as readings:
        assert level_of(readings, "m", window).prompt_tokens_per_second == pytest.approx(100)


def test_a_server_that_begins_anew_loses_only_what_no_scrape_saw(tmp_path: Path) -> None:
    def told(second: float) -> Told:
        since = second if second < 30 else second - 30
        return {"prompt_tokens_total": 100 * since, "num_requests_running": 1}

    level = measured(tmp_path, pages(told, range(61)), 5, 55)
    # 25 s to the new beginning, of which the last second was not seen, and 25 s after it.
    assert level.prompt_tokens_per_second == pytest.approx((24 + 25) * 100 / 50)
    assert "counter-reset" in {each.code for each in level.warnings}


def test_9388_output_tokens_in_75_7_seconds_are_124_a_second(tmp_path: Path) -> None:
    def told(moment: float) -> Told:
        done = moment > 0
        return {
            "num_requests_running": 0,
            "generation_tokens_total": 9388 * done,
            "prompt_tokens_total": 364184 * done,
            "prefix_cache_queries_total": 372184 * done,
            "prefix_cache_hits_total": 197340 * done,
        }

    level = measured(tmp_path, pages(told, [0.0, 75.7]), 0, 75.7)
    assert level.output_tokens_per_second == pytest.approx(124.0, abs=0.05)
    assert level.prefix_cache_hit_rate == 0.5302


def test_without_queries_to_the_prefix_cache_its_hit_rate_is_unknown_and_not_zero(tmp_path: Path) -> None:
    def told(_: float) -> Told:
        return {"num_requests_running": 0, "prefix_cache_queries_total": 5, "prefix_cache_hits_total": 3}

    assert measured(tmp_path, pages(told, range(10)), 2, 8).prefix_cache_hit_rate is None


def test_other_models_of_the_server_do_not_count(tmp_path: Path) -> None:
    mine, others = pages(steady(100, 2), range(40)), pages(steady(9000, 90), range(40), "other")
    both = {second: mine[second] + others[second] for second in mine}
    level = measured(tmp_path, both, 10, 30)
    assert level.prompt_tokens_per_second == pytest.approx(100)
    assert level.requests_running is not None
    assert level.requests_running.peak == 3


def test_engines_are_added_up_and_their_caches_are_not(tmp_path: Path) -> None:
    def page(second: int) -> list[Sample]:
        busy = steady(100, 2)(second)
        first = [sample(*pair) for pair in busy.items()]
        second_engine = [sample(*pair, engine="1") for pair in busy.items()]
        return first + second_engine

    level = measured(tmp_path, {float(second): page(second) for second in range(40)}, 10, 30)
    assert level.prompt_tokens_per_second == pytest.approx(200)
    assert level.requests_running is not None
    assert level.kv_cache_usage is not None
    assert (level.requests_running.peak, level.kv_cache_usage.peak) == (6, 0.5)


def test_a_server_under_another_label_is_taken_as_a_whole(tmp_path: Path) -> None:
    level = measured(tmp_path, pages(steady(100, 2), range(40), "a-name-of-its-own"), 10, 30)
    assert level.prompt_tokens_per_second == pytest.approx(100)


def test_names_of_older_servers_are_read(tmp_path: Path) -> None:
    def told(second: float) -> Told:
        return {
            "num_requests_running": 1,
            "gpu_cache_usage_perc": 0.25,
            "time_per_output_token_seconds_count": second * 10,
            "time_per_output_token_seconds_sum": second * 10 * 0.05,
        }

    level = measured(tmp_path, pages(told, range(30)), 5, 25)
    assert level.tpot_ms_mean == pytest.approx(50)
    assert level.kv_cache_usage is not None
    assert level.kv_cache_usage.peak == 0.25


def test_what_a_server_does_not_tell_is_unknown_and_named(tmp_path: Path) -> None:
    level = measured(tmp_path, pages(lambda _: {"num_requests_running": 1}, range(30)), 5, 25)
    assert level.prompt_tokens_per_second is None
    assert level.prefix_cache_hit_rate is None
    (warning,) = [each for each in level.warnings if each.code == "metrics-missing"]
    assert "prompt throughput" in warning.text
    assert "queue time" in warning.text


def test_time_without_scrapes_is_told(tmp_path: Path) -> None:
    every: dict[float, list[Sample]] = pages(steady(100, 2), range(60))
    for second in range(20, 31):
        every[float(second)] = []
    level = measured(tmp_path, every, 10, 50)
    (warning,) = [each for each in level.warnings if each.code == "scrapes-missing"]
    assert "12.0 s" in warning.text
    assert level.prompt_tokens_per_second == pytest.approx(100)


def test_a_level_that_was_not_seen_to_its_end_has_no_figures(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="from the start to the end of level 2"):
        measured(tmp_path, pages(steady(100, 2), range(30)), 10, 40)


def test_a_backlog_in_the_first_level_is_told(tmp_path: Path) -> None:
    def told(second: float) -> Told:
        return {
            **steady(100, 2)(second),
            "time_to_first_token_seconds_sum": second * 640,
            "request_queue_time_seconds_sum": second * 630,
        }

    level = measured(tmp_path, pages(told, range(40)), 10, 30, concurrency=1)
    assert {"backlog-in-level", "queue-above-prefill"} <= {each.code for each in level.warnings}
    fine = measured(tmp_path / "fine", pages(steady(100, 2), range(40)), 10, 30, concurrency=1)
    assert not fine.warnings


def test_failed_sessions_and_shared_tasks_are_told(tmp_path: Path) -> None:
    def session(task: str, status: str, error: str | None = None) -> LoadSession:
        return LoadSession.model_validate(
            {
                "slot": 0,
                "task": task,
                "status": status,
                "started_at": at(10),
                "ended_at": at(11),
                "error": error,
            }
        )

    sessions = (session("a", "ok"), session("a", "error", "status 500: no"), session("b", "cutoff"))
    window = LevelWindow(3, at(10), at(30), 1.0, sessions)
    with (
        scraped(tmp_path, pages(steady(100, 2), range(40))) as database,
        open_readings(database) as readings,
    ):
        level = level_of(readings, "m", window)
    texts = {each.code: each.text for each in level.warnings}
    assert "1 of 3 sessions, first: status 500: no" in texts["load-sessions-failed"]
    assert "3 sessions at 2 tasks" in texts["tasks-repeated"]
    assert level.sessions == sessions
