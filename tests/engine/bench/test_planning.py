"""Plans: whose turn it is, what it may cost, and which answers the demonstration knows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.costs.price_book import load_price_book
from runner.endpoint.suites.case import Slot
from runner.endpoint.suites.catalogue import CAPABILITY_CASES, SMOKE_CASES
from runner.endpoint.targets import load_targets, local_target
from runner.engine.bench.ledger import MONEY_SPENT, TIME_SPENT, Spending, counts
from runner.engine.bench.order import interleaved, slot_of
from runner.engine.bench.planning import price_of, targets_of
from runner.engine.bench.resuming import mark_key
from runner.errors import UsageError
from runner.records.bench_trial import BenchTrial
from tests import bench_examples
from tests.endpoint.statistics.trials import request, trial
from tests.engine.bench.project import MODEL, make_project, options_of

TODAY = date(2026, 11, 30)


@given(st.integers(0, 2**32), st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, unique=True))
def test_every_trial_has_one_turn_and_targets_stand_side_by_side(seed: int, targets: list[str]) -> None:
    cases = [(case, case.slots()) for case in SMOKE_CASES]
    planned = interleaved(targets, cases, 1, seed)
    assert planned == interleaved(targets, cases, 1, seed)
    assert len({each.key for each in planned}) == len(planned) == len(targets) * sum(len(s) for _, s in cases)
    for start in range(0, len(planned), len(targets)):
        block = planned[start : start + len(targets)]
        assert {each.target for each in block} == set(targets)
        assert len({(each.case, each.slot, each.seed) for each in block}) == 1


def test_no_case_has_a_second_turn_before_all_had_their_first() -> None:
    planned = interleaved(["a"], [(case, case.slots()) for case in CAPABILITY_CASES], 1, 5)
    first = planned[: len(CAPABILITY_CASES)]
    assert {each.case for each in first} == {case.identifier for case in CAPABILITY_CASES}


@given(st.integers(1, 999), st.integers(1, 99), st.booleans())
def test_a_slot_is_known_again_by_its_label(run: int, repeat: int, warm_up: bool) -> None:
    slot = Slot(run, 1 if warm_up else repeat, warm_up)
    assert slot_of(slot.label) == slot


def spent(target: str, dollars: float, seconds: float) -> BenchTrial:
    begun = datetime(2026, 11, 30, tzinfo=UTC)
    return trial(
        target=target,
        requests=(request(cost_usd=dollars),),
        started_at=begun,
        finished_at=begun + timedelta(seconds=seconds),
    )


def test_money_is_shared_evenly_and_time_is_each_targets_own() -> None:
    manifest = bench_examples.manifest()
    two = (manifest.targets[0], manifest.targets[0].model_copy(update={"identifier": "other"}))
    settings = manifest.settings.model_copy(update={"budget_usd": 2.0, "budget_seconds": 10.0})
    spending = Spending(manifest.model_copy(update={"targets": two, "settings": settings}))
    spending.add(spent("other", 0.99, 9.0))
    assert spending.reason("other") == ""
    assert spending.left_usd("other") == pytest.approx(0.01)
    assert spending.left_seconds("other") == pytest.approx(1.0)
    # Also a task that a budget has cut took its time.
    cut = spent("other", 0.01, 0.5).model_copy(update={"skipped": "cut by the budget of time"})
    assert counts(cut)
    spending.add(cut)
    assert spending.left_seconds("other") == pytest.approx(0.5)
    assert spending.reason("other") == MONEY_SPENT
    assert spending.reason(two[0].identifier) == ""
    spending.add(spent(two[0].identifier, 0.0, 10.0))
    assert spending.reason(two[0].identifier) == TIME_SPENT
    earlier = Spending(manifest.model_copy(update={"targets": two, "settings": settings}))
    earlier.take([spent("other", 1.0, 99.0)], with_time=False)
    assert earlier.reason("other") == MONEY_SPENT


def test_requests_cut_in_flight_count_in_the_budget_like_the_dearest_one_that_is_known() -> None:
    manifest = bench_examples.manifest()
    name, planned = manifest.targets[0].identifier, manifest.planned[0]
    settings = manifest.settings.model_copy(update={"budget_usd": 1.0})
    spending = Spending(manifest.model_copy(update={"settings": settings}))
    spending.add(spent(name, 0.1, 1.0))
    spending.add(spent(name, 0.2, 1.0))
    told = spent(name, 0.0, 1.0).model_copy(update={"cut_requests": 2, "key": planned.key})
    spending.add(told)
    assert spending.left_usd(name) == pytest.approx(1.0 - 0.3 - 2 * 0.2)
    # A killed runner left three; the line of the trial tells of two of them.
    spending.take_cut({planned.key: 3}, [told])
    assert spending.left_usd(name) == pytest.approx(1.0 - 0.3 - 3 * 0.2)
    spending.add(spent(name, 0.25, 1.0))
    assert spending.reason(name) == MONEY_SPENT


def test_what_we_gave_up_ourselves_is_not_over() -> None:
    assert counts(trial())
    assert not counts(trial(requests=(request("cancelled"),)))
    assert not counts(trial(requests=(request(), request("harness_error"))))
    assert not counts(trial(skipped=TIME_SPENT, requests=()))
    assert counts(trial(skipped="the endpoint accepts no tools", requests=()))


def test_a_target_without_a_price_says_why(tmp_path: Path) -> None:
    book = load_price_book(tmp_path)
    target = local_target("http://127.0.0.1:1/v1", "m", model="m", on=TODAY)
    price = price_of(target, book, TODAY)
    assert price.input is None
    assert price.missing_reason


def test_a_target_of_the_book_has_the_row_of_the_day() -> None:
    root = Path(__file__).parents[3] / "datasets"
    book, catalogue = load_price_book(root / "prices" / "tokens"), load_targets(root / "targets")
    found = [price_of(target, book, TODAY) for target in catalogue.targets if target.entry.replay is None]
    priced = [price for price in found if price.missing_reason is None]
    assert len(priced) > len(found) / 2
    assert all(price.input is not None and price.output is not None and price.source for price in priced)


def test_real_endpoints_are_not_compared_with_the_built_in_server(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ())])
    path = project.places.datasets / "targets" / f"{MODEL}.yaml"
    real = path.read_text(encoding="utf-8").partition("mappings:")[2].replace("region: one", "region: two")
    begin = real.index("    replay:")
    end = real.index("    context_tokens")
    real = real[:begin] + "    base_url: http://127.0.0.1:9/v1\n" + real[end:]
    path.write_text(path.read_text(encoding="utf-8") + real, encoding="utf-8")
    with pytest.raises(UsageError, match="not compared"):
        targets_of(options_of(), load_targets(path.parent), TODAY)
    one = replace(options_of(), mappings=("replay:one",))
    assert len(targets_of(one, load_targets(path.parent), TODAY)) == 1


def test_the_key_of_marks_is_made_once_and_stays_on_this_machine(tmp_path: Path) -> None:
    places = make_project(tmp_path, [("one", ())]).places
    manifest = bench_examples.manifest()
    silent = manifest.model_copy(
        update={"settings": manifest.settings.model_copy(update={"keep_responses": False})}
    )
    assert mark_key(places, manifest) == b""
    key = mark_key(places, silent)
    assert len(key) == 32
    assert mark_key(places, silent) == key
    (path,) = (places.artifacts / "bench").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
