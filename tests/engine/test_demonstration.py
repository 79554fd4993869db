"""The demonstration: the whole way from a plan to graded records, with nothing but this project."""

from __future__ import annotations

import pytest

from runner.engine.killing import facts
from runner.engine.places import Places
from runner.engine.planning import make_plan
from runner.engine.resolution import complete, resolve_all
from runner.engine.settings import RunSettings
from runner.errors import HarnessmarkError, UsageError
from runner.records import CheckStatus, CostBasis, Hosting, InvocationKind, Outcome
from runner.store import verify
from tests.engine.runs import demonstration, run
from tests.examples import NOON

SMALL = {"count": 2}


def test_the_careful_model_resolves_every_task_and_the_hasty_one_does_not(whole: tuple[Places, str]) -> None:
    places, output = whole
    resolved: dict[str, list[bool]] = {}
    for stored in demonstration(places).trials():
        passed = all(check.status is CheckStatus.PASSED for check in stored.checks)
        resolved.setdefault(stored.record.identity.cell.model.slug, []).append(passed)
    assert all(resolved["replay-careful"])
    assert not all(resolved["replay-hasty"])
    assert any(resolved["replay-hasty"])
    count = sum(sum(each) for each in resolved.values())
    assert f"resolved {count} of {sum(len(each) for each in resolved.values())} graded" in output


def test_every_record_is_labelled_as_a_demonstration_and_costs_nothing(whole: tuple[Places, str]) -> None:
    places, output = whole
    assert "demonstration" in output
    for stored in demonstration(places).trials():
        record = stored.record
        assert (record.demonstration, record.serving.hosting) == (True, Hosting.BUILT_IN)
        assert [(cost.basis, cost.amount_usd) for cost in record.costs] == [(CostBasis.NONE, 0.0)]


def test_demonstration_results_stay_out_of_the_public_store(whole: tuple[Places, str]) -> None:
    places, _ = whole
    assert [path.name for path in places.results.iterdir()] == ["demonstration"]
    assert verify(places.roots().demonstration) == []


def test_records_name_no_folder_of_this_machine_and_no_key(whole: tuple[Places, str]) -> None:
    places, _ = whole
    for path in places.results.rglob("*"):
        if path.is_file():
            assert str(places.root).encode() not in path.read_bytes(), path


def test_a_missing_note_is_asked_for_in_a_completion_pass(whole: tuple[Places, str]) -> None:
    places, _ = whole
    kinds = {
        invocation.kind
        for stored in demonstration(places).trials()
        if stored.record.identity.cell.model.slug == "replay-hasty"
        for invocation in stored.record.invocations
    }
    assert InvocationKind.TOP_UP in kinds


def test_usage_is_known_and_adds_up_over_invocations(whole: tuple[Places, str]) -> None:
    places, _ = whole
    for stored in demonstration(places).trials():
        usage = stored.record.usage
        assert usage is not None
        parts = [each.usage.output_tokens for each in stored.record.invocations if each.usage is not None]
        assert usage.output_tokens == sum(part for part in parts if part is not None)
        assert usage.output_tokens


def test_scratch_folders_are_gone_and_streams_are_kept_outside_the_store(whole: tuple[Places, str]) -> None:
    places, _ = whole
    assert not any((places.artifacts / "work").rglob("trial*"))
    for stored in demonstration(places).trials():
        for invocation in stored.record.invocations:
            assert (places.streams / f"{invocation.stream_sha256}.jsonl.gz").is_file()


def test_the_same_seed_plans_the_same_order_and_another_one_does_not(places: Places) -> None:
    def order(seed: int) -> list[tuple[str, ...]]:
        settings = complete(RunSettings(seed=seed, trials=2), places)
        plan = make_plan(resolve_all([settings], places), demonstration(places), now=NOON)
        return [each.identity.key for each in plan.trials]

    assert order(1) == order(1)
    assert any(order(seed) != order(1) for seed in range(2, 6))


def test_more_trials_than_a_plan_holds_are_refused_at_once(places: Places) -> None:
    settings = complete(RunSettings(trials=99_999_999_999), places)
    with pytest.raises(UsageError, match="more than a plan holds"):
        make_plan(resolve_all([settings], places), demonstration(places), now=NOON)


def test_an_address_beside_the_built_in_server_is_refused(places: Places) -> None:
    with pytest.raises(UsageError, match="address of its own"):
        complete(RunSettings(provider="replay", endpoint="http://127.0.0.1:9/v1"), places)


def test_a_dataset_without_a_recording_is_said_to_need_a_model_that_can_work(places: Places) -> None:
    text = (places.datasets / "hello-world.yaml").read_text(encoding="utf-8")
    other = text.replace("\nname: hello-world\n", "\nname: other\n")
    other = other.replace("\noutput_scope: hello-world\n", "\noutput_scope: other\n")
    (places.datasets / "other.yaml").write_text(other, encoding="utf-8")
    with pytest.raises(UsageError, match="no recording of this dataset"):
        complete(RunSettings(dataset="other"), places)


def test_a_cut_run_has_all_cells_alike(places: Places) -> None:
    settings = complete(RunSettings(trials=3), places)
    plan = make_plan(resolve_all([settings], places), demonstration(places), now=NOON)
    cells_and_tasks = len(plan.trials) // 3
    for start in range(0, len(plan.trials), cells_and_tasks):
        one_round = plan.trials[start : start + cells_and_tasks]
        assert len({(each.identity.cell.key, each.identity.task) for each in one_round}) == cells_and_tasks


def test_a_second_run_adds_trials_and_changes_none(places: Places) -> None:
    run(places, {"count": 1})
    before = {stored.record.identity.key: facts(stored) for stored in demonstration(places).trials()}
    run(places, {"count": 1})
    after = {stored.record.identity.key: facts(stored) for stored in demonstration(places).trials()}
    assert before.items() <= after.items()
    assert {key[-1] for key in after.keys() - before.keys()} == {"2"}


def test_a_dry_run_shows_the_plan_and_writes_nothing(places: Places) -> None:
    code, output = run(places, {"trials": 3, **SMALL}, dry_run=True)
    assert code == 0
    assert "12 trials" in output
    assert "cost ceiling: $0.00" in output
    assert not places.results.exists()


def test_too_few_resolved_trials_are_an_exit_code_of_their_own(places: Places) -> None:
    one_task = {"fail_under": 100, "tasks": "whole-minutes"}
    assert run(places, {"model": "replay-hasty", **one_task})[0] == 2
    assert run(places, {"model": "replay-careful", **one_task})[0] == 0


def test_a_turn_limit_ends_a_trial_as_budget_and_not_as_failure_of_ours(places: Places) -> None:
    code, _ = run(places, {"max_turns": 1, "model": "replay-careful", **SMALL})
    outcomes = {stored.record.outcome for stored in demonstration(places).trials()}
    assert (code, outcomes) == (0, {Outcome.BUDGET})


def test_lines_of_the_harness_are_shown_only_when_asked_for(places: Places) -> None:
    _, quiet = run(places, {"count": 1, "model": "replay-careful"})
    _, loud = run(places, {"count": 1, "model": "replay-careful"}, stream=True)
    assert " | " not in quiet
    assert " | " in loud


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({"tasks": "no-such-task"}, "has no task no-such-task"),
        ({"dataset": "hello-word"}, "hello-world"),
        ({"harness": "lop"}, "loop"),
        ({"skill": "fxi"}, "fix"),
        ({"provider": "replai"}, "replay"),
        ({"model": "replay-carefull"}, "replay-careful"),
        ({"endpoint": "http://127.0.0.1:9/v1"}, "needs --model"),
        ({"aws_region": "us-east-1"}, "is for provider bedrock"),
        ({"model": "../../etc"}, "written like a path"),
    ],
)
def test_a_wrong_name_is_a_usage_error_that_says_what_there_is(
    places: Places, flags: dict[str, object], complaint: str
) -> None:
    with pytest.raises(HarnessmarkError, match=complaint) as caught:
        run(places, flags)
    assert caught.value.exit_code in {1, 4}
    assert not places.results.exists() or not list(places.results.rglob("trial.json"))


def test_a_server_error_that_passes_is_retried_and_counted(places: Places) -> None:
    code, _ = run(places, {"model": "replay-careful", "count": 1, "faults": "first1-e500"})
    [stored] = demonstration(places).trials()
    assert (code, stored.record.outcome) == (0, Outcome.COMPLETED)
    assert [invocation.retries for invocation in stored.record.invocations] == [1]


def test_answers_without_usage_leave_it_unknown_and_say_so(places: Places) -> None:
    run(places, {"model": "replay-careful", "count": 1, "faults": "nousage"})
    [stored] = demonstration(places).trials()
    assert stored.record.usage is None
    assert "usage-not-reported" in {warning.code for warning in stored.record.warnings}


def test_an_endpoint_that_refuses_the_request_ends_as_model_error_without_a_retry(places: Places) -> None:
    run(places, {"model": "replay-careful", "count": 1, "faults": "e400"})
    [stored] = demonstration(places).trials()
    assert stored.record.outcome is Outcome.MODEL_ERROR
    # The same request would be refused again.
    assert [invocation.kind for invocation in stored.record.invocations] == [InvocationKind.FIRST]
    assert {check.status for check in stored.checks} == {CheckStatus.FAILED, CheckStatus.NOT_RUN}


def test_a_silent_endpoint_ends_at_the_deadline_as_timeout(places: Places) -> None:
    run(
        places,
        {"model": "replay-careful", "count": 1, "faults": "hang", "timeout_seconds": 5, "max_retries": 0},
    )
    [stored] = demonstration(places).trials()
    assert stored.record.outcome is Outcome.TIMEOUT
    # What a server that was asked and said nothing has used is not known, and not nothing.
    assert stored.record.usage is None
    assert "usage-is-lower-bound" in {warning.code for warning in stored.record.warnings}
