"""A plan whose trials have all ended is not finished while its judges have some of them still to score."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runner.engine.judging.journal import Journal
from runner.engine.places import Places
from runner.engine.resuming import find_plan
from runner.engine.status import status_of
from runner.engine.status_command import unfinished, unfinished_lines
from runner.engine.status_text import status_lines
from runner.engine.unjudged import unjudged
from runner.errors import ConfigurationError, UsageError
from runner.store import ResultsStore, verify
from tests import examples
from tests.engine.judging import judgements
from tests.engine.runs import demonstration, run
from tests.engine.test_judging_killed import unlist

FLAGS = {"count": 1, "model": "replay-careful", "judge": "replay", "judge_mode": "inline"}


def forget_judgement(store: ResultsStore, plan_id: str) -> None:
    """Bring the store back to before the last judgement was written."""
    unlist(store, plan_id, "judgements/")
    for path in store.root.rglob("judgements/*.json"):
        path.unlink()


def test_resume_without_an_id_finds_the_plan_where_only_judging_is_left(places: Places) -> None:
    assert run(places, FLAGS)[0] == 0
    store = demonstration(places)
    [plan] = store.plans()
    assert unjudged(plan, store, places) == 0
    assert unfinished(places) == []
    forget_judgement(store, plan.plan_id)
    assert verify(store.root) == []

    assert find_plan(None, places)[0].plan_id == plan.plan_id
    status = status_of(plan, store, places, datetime.now(UTC))
    assert (status.left, status.to_judge) == (0, 1)
    assert status.resume == f"invoke run --resume {plan.plan_id}"
    assert "judged: 0 of 1, 0 waiting, 0 failed, 1 left" in status_lines(status, datetime.now(UTC))
    [line] = unfinished_lines(unfinished(places))
    assert "1 of 1 done, 1 to judge, runner ended" in line

    code, output = run(places, resume=True)
    assert code == 0, output
    assert len(judgements(store)) == 1
    assert status_of(plan, store, places, datetime.now(UTC)).resume is None
    with pytest.raises(UsageError, match="no plan is unfinished"):
        run(places, resume=True)


def test_a_judgement_that_a_killed_runner_could_not_list_is_found_by_a_resume_without_an_id(
    places: Places,
) -> None:
    assert run(places, FLAGS)[0] == 0
    store = demonstration(places)
    [plan], [record] = store.plans(), judgements(store)
    journal = Journal.of(places.artifacts / "judging", "any")
    journal.finish(record)
    unlist(store, plan.plan_id, "judgements/")
    assert verify(store.root) != []
    code, output = run(places, resume=True)
    assert code == 0, output
    assert verify(store.root) == []
    assert judgements(store) == [record]
    assert not journal.folder.exists()
    with pytest.raises(UsageError, match="no plan is unfinished"):
        run(places, resume=True)


@pytest.mark.parametrize("change", ["no judge", "another judge"])
def test_a_judgement_that_no_judge_of_the_plan_made_does_not_make_it_unfinished(
    change: str, places: Places
) -> None:
    assert run(places, {**FLAGS, "judge_mode": "skip"} if change == "no judge" else FLAGS)[0] == 0
    store = demonstration(places)
    record = examples.judgement(next(store.trials()).record.identity)
    Journal.of(places.artifacts / "judging", "any").finish(record)
    store.write_judgement(next(store.plans()).plan_id, record)
    with pytest.raises(UsageError, match="no plan is unfinished"):
        find_plan(None, places)


def test_a_plan_that_wants_no_judge_or_one_that_is_not_to_be_had_is_finished(places: Places) -> None:
    assert run(places, {**FLAGS, "judge_mode": "skip"})[0] == 0
    store = demonstration(places)
    [plan] = store.plans()
    assert unjudged(plan, store, places) == 0
    assert unjudged(plan, store, places, {"judge_mode": "async"}) == 1
    assert unjudged(plan, store, places, {"judge": ("nobody",), "judge_mode": "async"}) == 0
    (places.datasets / "hello-world.yaml").unlink()
    assert unjudged(plan, store, places, {"judge_mode": "async"}) == 0


def test_resume_with_another_judge_finds_the_finished_plan_that_it_has_still_to_score(places: Places) -> None:
    assert run(places, {"count": 1, "model": "replay-careful"})[0] == 0
    store = demonstration(places)
    with pytest.raises(UsageError, match="no plan is unfinished"):
        run(places, resume=True)
    for flags, told in (
        ({"judge": "nobody"}, "nobody"),
        ({"judge": "replay", "concurrency": "four"}, "concurrency"),
        ({"judge": "replay", "judge_mode": "skip"}, "no plan is unfinished"),
        (
            {"judge": "replay", "concurrency": 4},
            "--concurrency would change nothing: every trial has been run",
        ),
    ):
        with pytest.raises((UsageError, ConfigurationError), match=told) as refused:
            run(places, flags, resume=True)
        assert refused.value.remedy
        assert judgements(store) == []
    assert run(places, {"judge": "replay"}, resume=True)[0] == 0
    assert len(judgements(store)) == 1
    with pytest.raises(UsageError, match="no plan is unfinished"):
        run(places, {"judge": "replay"}, resume=True)


def test_a_flag_of_judging_that_would_be_ignored_on_resume_is_refused(places: Places) -> None:
    assert run(places, {"count": 2, **FLAGS, "judge_mode": "skip"})[0] == 0
    store = demonstration(places)
    [plan] = store.plans()
    with pytest.raises(UsageError, match="--judge would change nothing: its judges are skipped") as refused:
        run(places, {"judge": "replay"}, resume=plan.plan_id)
    assert (refused.value.where, refused.value.remedy) == (f"plan {plan.plan_id}", "add --judge-mode async")
    assert run(places, {"count": 1, "model": "replay-careful", "seed": 2})[0] == 0
    newest = max(store.plans(), key=lambda each: (str(each.created_at), each.plan_id))
    with pytest.raises(UsageError, match="--judge-concurrency would change nothing: it has no judge"):
        run(places, {"judge_concurrency": 3}, resume=newest.plan_id)
