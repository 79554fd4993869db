"""Disk: what a run will take is estimated from its checkouts, and a full disk starts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.datasets import bring
from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.disk import FLOOR, HOME, UNFETCHED, disk_checks, existing, scratch_bytes
from runner.engine.resolution import complete, resolve
from runner.engine.settings import RunSettings
from runner.providers.checks import CheckState


def group(places: Places, **settings: object) -> Group:
    whole = complete(RunSettings(**settings), places)  # type: ignore[arg-type]
    return Group(whole, resolve(whole, places))


@pytest.mark.parametrize(
    ("free", "state"),
    [(FLOOR - 1, CheckState.FAIL), (FLOOR, CheckState.WARN), (10**12, CheckState.PASS)],
)
def test_below_the_floor_fails_and_below_the_need_with_margin_warns(
    places: Places, free: int, state: CheckState
) -> None:
    places.root.mkdir(exist_ok=True)
    [check] = disk_checks([group(places)], places, lambda _: free)
    assert (check.state, bool(check.fix)) == (state, state is not CheckState.PASS)
    assert "scratch and streams and results" in check.found


def test_the_real_disk_is_looked_at(places: Places) -> None:
    [check] = disk_checks([group(places)], places)
    assert "free for scratch" in check.found


def test_more_trials_in_hand_need_more_and_never_more_than_there_are(places: Places) -> None:
    def need(**settings: object) -> int:
        return scratch_bytes([group(places, model="replay-careful", **settings)], places.repositories)

    assert need(concurrency=1, trials=4) == 2 * need(concurrency=1, trials=1, count=1)
    assert need(concurrency=200, count=1) == need(concurrency=1, count=1)


def test_a_fetched_checkout_is_measured_and_another_is_taken_to_be_large(places: Places) -> None:
    whole = group(places, model="replay-careful", count=1)
    [task] = whole.parts.tasks
    before = scratch_bytes([whole], places.repositories)
    bring(task.repo, task.ref, beside=places.datasets, cache=places.repositories)
    after = scratch_bytes([whole], places.repositories)
    assert HOME < after < HOME + 4 * 1_000_000
    assert HOME < before < HOME + 4 * UNFETCHED


def test_a_repository_that_is_not_there_counts_as_one_of_unknown_size(places: Places, tmp_path: Path) -> None:
    text = (places.datasets / "hello-world.yaml").read_text(encoding="utf-8")
    assert "repositories/clockbook.bundle" in text
    whole = group(places, model="replay-careful", count=1)
    (places.datasets / "repositories" / "clockbook.bundle").unlink()
    assert scratch_bytes([whole], places.repositories) == HOME + 4 * UNFETCHED


def test_the_nearest_folder_that_is_there_is_asked(tmp_path: Path) -> None:
    assert existing(tmp_path / "a" / "b" / "c") == tmp_path
    assert existing(Path("/no-such-folder-anywhere/x")) == Path("/")
