"""Results of a run: folders that cannot be written to, plans that wait, records that are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.storage import storage_checks
from runner.engine.resolution import complete, resolve
from runner.engine.settings import RunSettings
from runner.providers.checks import Check, CheckState
from runner.store import ResultsStore
from tests.engine.runs import demonstration, run, undo_last_trial

SMALL: dict[str, object] = {"model": "replay-careful", "count": 2}


def group(places: Places, **settings: object) -> Group:
    whole = complete(RunSettings(**settings), places)  # type: ignore[arg-type]
    return Group(whole, resolve(whole, places))


def plans(checks: list[Check]) -> Check:
    [check] = [check for check in checks if check.name == "plans"]
    return check


def looked(places: Places, store: ResultsStore | None = None, **settings: object) -> list[Check]:
    whole = group(places, **(settings or {"model": "replay-careful"}))
    return list(storage_checks([whole], store or demonstration(places), places))


def test_a_new_project_is_free_and_nothing_is_made_by_looking(places: Places) -> None:
    checks = looked(places)
    assert [check.state for check in checks] == [CheckState.PASS] * 3
    assert not places.results.exists()
    assert not places.artifacts.exists()


def test_an_unfinished_plan_over_the_same_cells_is_offered_to_be_resumed(places: Places) -> None:
    run(places, SMALL)
    store = demonstration(places)
    [plan] = store.plans()
    assert plans(looked(places)).state is CheckState.PASS
    undo_last_trial(store, plan.plan_id)
    check = plans(looked(places))
    assert (check.state, check.fix) == (CheckState.WARN, f"invoke run --resume {plan.plan_id}")
    assert "1 trials left" in check.found
    assert plans(looked(places, model="replay-hasty")).state is CheckState.PASS


def test_a_damaged_plan_is_not_offered_and_not_gone_on_with(places: Places) -> None:
    run(places, SMALL)
    store = demonstration(places)
    [plan] = store.plans()
    next(store.root.rglob("trial.json")).unlink()
    assert plans(looked(places)).fix == "invoke verify"
    whole = group(places, model="replay-careful")
    check = plans(list(storage_checks([whole], demonstration(places), places, plan)))
    assert (check.state, check.fix) == (CheckState.FAIL, "invoke verify")
    assert "1 of the finished trials" in check.found


def test_a_plan_that_is_whole_may_be_gone_on_with(places: Places) -> None:
    run(places, SMALL)
    store = demonstration(places)
    [plan] = store.plans()
    undo_last_trial(store, plan.plan_id)
    check = plans(list(storage_checks([group(places, **SMALL)], demonstration(places), places, plan)))
    assert check.state is CheckState.PASS
    assert "1 trials are left" in check.found


def test_a_plan_that_cannot_be_read_fails(places: Places) -> None:
    store = demonstration(places)
    (store.root / "plans").mkdir(parents=True)
    (store.root / "plans" / "run-1.json").write_text("{", encoding="utf-8")
    check = plans(looked(places))
    assert (check.state, check.fix) == (CheckState.FAIL, "invoke verify")


def test_a_file_in_place_of_a_folder_is_named(places: Places) -> None:
    places.artifacts.write_text("", encoding="utf-8")
    [check] = [check for check in looked(places) if check.state is CheckState.FAIL]
    assert ".artifacts is no folder" in check.found


def test_a_folder_without_the_right_to_write_has_its_command(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.results.mkdir()

    def access(path: Path, mode: int) -> bool:
        return Path(path) != places.results

    monkeypatch.setattr("runner.engine.preflight.storage.os.access", access)
    [check] = [check for check in looked(places) if check.state is CheckState.FAIL]
    assert check.fix == "chmod u+rwx results"
