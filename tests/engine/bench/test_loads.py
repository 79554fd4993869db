"""Loads in several processes, and what a budget of time that is too small lets begin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from runner.endpoint.calibration import Calibration, CalibrationLevel, Spread
from runner.endpoint.statistics.summary import account
from runner.engine.bench.arranging import Levels, levels_of, numbers_to_try, workers_at
from runner.engine.bench.calibrating import calibrated, calibration_lines
from runner.engine.bench.ledger import LOAD_TIME_SHORT, Spending
from runner.engine.bench.pace import Pace, StageClock
from runner.errors import EndpointError
from runner.records.bench_manifest import BenchManifest, LoadStage
from tests.bench_examples import NOON
from tests.bench_examples import manifest as example
from tests.bench_examples import trial as made
from tests.endpoint.statistics.trials import loaded
from tests.engine.bench.project import make_project, options_of

Known = dict[tuple[int, int], tuple[float, float]]
"""By streams and processes: bias at p99, and largest lag; ms."""


def quiet(_line: str) -> None:
    """Not to the terminal."""


def level(streams: int, workers: int, p99: float, lag: float) -> CalibrationLevel:
    return CalibrationLevel(
        streams=streams,
        transport="asyncio",
        tls=False,
        workers=workers,
        requests=3 * streams,
        failed=0,
        ttft_bias=Spread(count=3, p50=0.1, p99=p99, largest=p99),
        arrival_lag=Spread(count=0),
        gap_error=Spread(count=0),
        largest_loop_lag_ms=lag,
        chunks_per_second=None,
        cpu_us_per_chunk=None,
    )


class Machine:
    """Measures what is known of it."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.taken: list[tuple[int, int]] = []

    def __call__(self, streams: Sequence[int], workers: int) -> Calibration:
        self.taken += [(each, workers) for each in streams]
        levels = tuple(level(each, workers, *self.known.get((each, workers), (0.2, 1.0))) for each in streams)
        return Calibration(
            measured_at=NOON,
            first_ms=100,
            gap_ms=20,
            chunks=20,
            event_loop="asyncio",
            python="3.11",
            processors=4,
            load_average=None,
            levels=levels,
        )


def arranged(levels: Levels, known: Known, workers: int | None = None) -> tuple[BenchManifest, Machine]:
    machine = Machine(known)
    found, missing = calibrated(levels, "asyncio", tls=False, note=quiet, workers=workers, measure=machine)
    assert missing is None
    settings = example().settings.model_copy(update={"workers": workers})
    return example().model_copy(update={"calibration": found, "settings": settings}), machine


def used(manifest: BenchManifest) -> list[tuple[int, int]]:
    assert manifest.calibration is not None
    return [(row.streams, row.workers) for row in manifest.calibration.levels]


@pytest.fixture
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.engine.bench.calibrating.processors", lambda: 4)


def test_above_the_level_that_one_process_keeps_up_with_there_are_as_few_as_do(four_processors: None) -> None:
    slow = {(64, 1): (9.0, 1.0), (256, 1): (90.0, 1.0), (256, 2): (9.0, 1.0), (512, 1): (1.0, 90.0)}
    manifest, machine = arranged(Levels((1,), (8, 64, 256, 512)), slow)
    assert used(manifest) == [(1, 1), (8, 1), (64, 2), (256, 4), (512, 2)]
    assert (256, 2) in machine.taken
    assert manifest.calibration is not None
    assert manifest.calibration.floor_ms == pytest.approx(0.1)
    assert [(row.streams, row.workers) for row in manifest.calibration.not_used] == [
        (64, 1),
        (256, 1),
        (256, 2),
        (512, 1),
    ]
    assert [workers_at(manifest, streams) for streams in (1, 2, 8, 9, 64, 100, 600)] == [1, 1, 1, 2, 2, 4, 2]
    lines = "\n".join(calibration_lines(manifest.calibration))
    assert "1 stream: TTFT bias" in lines
    assert "256 streams in 4 processes: TTFT bias" in lines
    assert "floor 0.10 ms" in lines


def test_a_lower_level_that_one_hiccup_spoilt_stays_in_one_process(four_processors: None) -> None:
    manifest, machine = arranged(Levels((1,), (4, 32)), {(4, 1): (9.0, 1.0)})
    assert used(manifest) == [(1, 1), (4, 1), (32, 1)]
    assert {workers for _, workers in machine.taken} == {1}


def test_where_no_number_keeps_up_the_one_with_the_smallest_bias_is_used(four_processors: None) -> None:
    slow = {(64, 1): (30.0, 1.0), (64, 2): (10.0, 1.0), (64, 4): (20.0, 1.0)}
    assert used(arranged(Levels((1,), (64,)), slow)[0]) == [(1, 1), (64, 2)]


def test_a_number_that_was_asked_for_is_measured_and_used_whatever_one_process_could() -> None:
    manifest, machine = arranged(Levels((1, 8), (2, 8)), {}, workers=3)
    assert machine.taken == [(1, 1), (8, 1), (2, 2), (8, 3)]
    assert used(manifest) == [(1, 1), (2, 2), (8, 1), (8, 3)]
    assert [workers_at(manifest, streams) for streams in (1, 2, 8, 100)] == [1, 2, 3, 3]
    assert used(arranged(Levels((1,), (8,)), {}, workers=1)[0]) == [(1, 1), (8, 1)]


def test_numbers_double_up_to_the_processors_and_none_is_without_a_stream() -> None:
    assert [numbers_to_try(512, most) for most in (1, 2, 3, 8)] == [(), (2,), (2, 3), (2, 4, 8)]
    assert (numbers_to_try(1, 8), numbers_to_try(3, 8)) == ((), (2, 3))


def test_a_client_that_cannot_be_measured_is_told_and_load_goes_on_in_one_process() -> None:
    def broken(_streams: Sequence[int], _workers: int) -> Calibration:
        raise EndpointError("the metronome did not start")

    wanted = Levels((1,), (8,))
    assert calibrated(wanted, "asyncio", tls=False, note=quiet, measure=broken) == (
        None,
        "the metronome did not start",
    )
    assert workers_at(example(), 100) == 1


def stage_at(target: str, level: float = 2.0, **more: object) -> LoadStage:
    fields: dict[str, object] = {
        "key": f"{target}|sweep|{level:g}",
        "group": "sweep",
        "shape": "sweep",
        "target": target,
        "case": "load",
        "level": level,
        "unit": "in flight",
        "closed_loop": True,
        "requests": 22,
        "warm_up_requests": 2,
    }
    return LoadStage.model_validate(fields | more)


def test_a_level_is_begun_only_where_all_its_targets_get_a_steady_window() -> None:
    one, two = stage_at("one"), stage_at("two")
    manifest = example().model_copy(update={"stages": (one, two)})
    pace, said = Pace(manifest), list[str]()
    assert pace.needed(one) is None
    assert StageClock(Spending(manifest), pace, one, 1.0).reason_not_to_begin(said.append) == ""
    for nobody_there in range(2):
        pace.see(loaded(nobody_there, 0.0, 0.0, outcome="connect-error", total_ms=None))
    assert pace.needed(one) is None, "a time that is not known is none of 0 s"
    pace.see(loaded(0, 0.0, 1000.0))
    assert pace.needed(one) == pytest.approx(11.0)
    assert pace.needed_by_level(one) == pytest.approx(22.0)
    for budget, reason in ((21.0, LOAD_TIME_SHORT), (22.5, "")):
        clock = StageClock(Spending(manifest), pace, one, budget)
        assert clock.reason_not_to_begin(said.append) == reason
    assert "take about 22.0 s at this level, all its targets together, and 21.0 s" in said[0]
    pace.over.add(two.key)
    assert pace.needed_by_level(one) == pytest.approx(11.0)
    planned = stage_at("one", closed_loop=False, send_offsets_ms=tuple(500.0 * n for n in range(22)))
    assert Pace(manifest).needed(planned) == pytest.approx(10.5)


def test_warm_ups_stop_once_the_first_one_tells_that_the_budget_is_too_small() -> None:
    one = stage_at("one")
    manifest = example().model_copy(update={"stages": (one,)})
    pace = Pace(manifest)
    clock = StageClock(Spending(manifest), pace, one, 5.0)
    clock.start()
    assert clock.reason() == ""
    pace.see(loaded(0, 0.0, 1000.0))
    assert clock.reason() == LOAD_TIME_SHORT
    # What has begun to be measured goes on as long as there is time.
    assert clock.reason() == ""


def test_one_stream_shows_the_floor_of_every_run() -> None:
    assert levels_of(example()) == Levels((1,), ())
    stages = (stage_at("one", 800.0), stage_at("one", 4.0, closed_loop=False))
    assert levels_of(example().model_copy(update={"stages": stages, "planned": ()})) == Levels(
        (1,), (32, 512)
    )


def test_a_load_in_two_processes_names_the_worker_of_each_trial_and_keeps_no_word(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ())])
    options = options_of(
        loads=("concurrency=3",), load_requests=24, load_warm_up=1, workers=2, keep_responses=False
    )
    assert project.bench(options, out=str(project.root / "reports")) == 0
    manifest, trials, summary = project.read()
    assert manifest.settings.workers == 2
    assert len(trials) == 25
    places = [trial.load for trial in trials if trial.load is not None]
    assert {(place.worker, place.workers) for place in places} == {(1, 2), (2, 2)}
    assert all(trial.requests[0].text == "" for trial in trials)
    assert all(trial.outcome == "ok" for trial in trials)
    (curve,) = summary.load
    assert curve.points[0].client.workers == 2
    assert "  load in 2 processes, not calibrated" in project.said
    label = f"load at {manifest.stages[0].target}, concurrency 3"
    assert f"{label}: 25 of 25 requests to send" in project.said
    # A load may take an hour: it is not silent for all of it.
    assert [line for line in project.said if line.startswith(f"  {label}: ")] == [
        f"  {label}: {number} of 25 over" for number in range(3, 25, 3)
    ]
    report = next((project.root / "reports").glob("*report.md")).read_text(encoding="utf-8")
    assert "- Load in: 2 processes, as was asked for" in report
    assert "| Processes |" in report


def test_a_budget_that_covers_no_steady_window_spends_little_and_says_so(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ("slow200",)), ("two", ("slow200",))])
    options = options_of(loads=("concurrency=1",), load_requests=20, load_warm_up=4, load_budget_seconds="1")
    assert project.bench(options) == 3
    _, trials, summary = project.read()
    made = [trial for trial in trials if trial.skipped is None]
    assert {trial.skipped for trial in trials} == {None, LOAD_TIME_SHORT}
    # The first warm-up told how long a request takes; the other target was not asked at all.
    assert len(made) == 1
    assert LOAD_TIME_SHORT in summary.ended_reason
    assert any("is not begun: warm-ups and a steady window take about" in line for line in project.said)


def test_a_case_that_is_also_a_load_is_not_short_of_the_trials_of_the_load() -> None:
    manifest = example()
    plain = manifest.planned[0]
    of_load = [plain.model_copy(update={"key": f"stage|{number}", "stage": "stage"}) for number in range(3)]
    both = manifest.model_copy(update={"planned": (plain, *of_load)})
    trials = [made(), made().model_copy(update={"key": "stage|0", "load": loaded(0, 0.0, 1.0).load})]
    found = account(both, trials, plain.target, plain.case)
    assert (found.planned, found.done, found.left, found.unplanned) == (1, 1, 0, 0)
    assert (account(both, trials).planned, account(both, trials).left) == (4, 2)
