"""The engine's own time is measured from real trials, and the figures follow from what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.engine.measurement import EngineMeasurement, Timing, machine, measure_engine
from runner.engine.places import Places

PROJECT = Path(__file__).parent.parent.parent


def measured(ratio: float, milliseconds: float) -> EngineMeasurement:
    together = Timing(40, 8, wall_seconds=10.0 * ratio, child_seconds=80.0, asleep_seconds=1.9)
    wall = 20 * (0.1 + milliseconds / 1000)
    alone = Timing(20, 1, wall_seconds=wall, child_seconds=2.0, asleep_seconds=0.0)
    return EngineMeasurement(together, alone, "sandbox", "a machine")


def test_the_figures_follow_from_the_times() -> None:
    found = measured(1.04, 120)
    assert found.together.ratio == pytest.approx(1.04)
    assert found.together.outside_milliseconds == pytest.approx(80)
    assert found.together.inside_milliseconds == pytest.approx(100)
    assert found.one_by_one.outside_milliseconds == pytest.approx(120)
    assert "ratio 1.040" in found.lines()[0]
    assert "120 ms per trial" in found.lines()[2]
    assert "a machine" in found.lines()[-1]


@pytest.mark.parametrize(
    ("ratio", "milliseconds", "within"), [(1.05, 149, True), (1.06, 100, False), (1.0, 151, False)]
)
def test_both_aims_must_be_met(ratio: float, milliseconds: float, within: bool) -> None:
    assert measured(ratio, milliseconds).within_aim is within


def test_real_trials_are_timed_and_nothing_is_left(tmp_path: Path) -> None:
    found = measure_engine(
        PROJECT / "datasets", in_flight=2, seconds=0.2, rounds=2, one_by_one=2, folder=tmp_path
    )
    assert (found.together.trials, found.one_by_one.trials) == (4, 2)
    assert found.together.wall_seconds >= 0.4
    assert found.together.inside_milliseconds > 0
    assert found.one_by_one.outside_milliseconds > 0
    assert not any(tmp_path.iterdir())


def test_trials_in_hand_overlap_with_the_agents_at_work(tmp_path: Path) -> None:
    found = measure_engine(
        PROJECT / "datasets",
        in_flight=2,
        seconds=0.5,
        rounds=4,
        one_by_one=4,
        isolation="none",
        folder=tmp_path,
    )
    # Made ready and graded one after the other, each would take its place for this long.
    alone = found.one_by_one.outside_milliseconds
    assert found.together.outside_milliseconds < alone + 500


def test_the_machine_is_described_without_its_name(tmp_path: Path) -> None:
    assert "Python 3." in machine()
    assert "cores" in machine(lambda _: "model name\t: Some Processor\n")
    assert machine(lambda _: "model name\t: Some Processor\n").startswith("Some Processor, ")

    def unreadable(_: Path) -> str:
        raise OSError

    assert machine(unreadable)
    assert str(Places(tmp_path).root) not in machine()
