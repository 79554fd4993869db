"""What is not judged, and settings of a judge: each refusal and each fault says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.engine.judging import judge_trial, open_bench, probe, read_judge_settings
from runner.engine.judging.beside import open_panel
from runner.engine.judging.docket import make_docket
from runner.engine.judging.journal import Journal
from runner.engine.judging.subject import subject_of
from runner.engine.judging.trial import journal_of, journals
from runner.engine.lock import locked
from runner.engine.places import Places
from runner.engine.spending import Spent
from runner.errors import ConfigurationError, SecretFound, UsageError
from runner.judges import rubric
from runner.providers.checks import CheckState
from runner.records import Outcome
from runner.store import ResultsStore
from tests import examples
from tests.engine.judging import FLAGS, asked, finished, judge, judgements, script
from tests.engine.standin import ENVIRONMENT
from tests.secrets.planted import planted

PROJECT = Path(__file__).parent.parent.parent


def test_imported_trials_are_refused_with_the_reason() -> None:
    settings = read_judge_settings(None, FLAGS)
    docket = make_docket(settings, Places(PROJECT), path=str(PROJECT / "results"))
    assert docket.entries == ()
    reasons = dict(docket.refused)
    imported = "it is imported and its artifacts were not published with it: there is nothing to read"
    assert reasons.pop(imported) > 300
    assert sum(docket.refused.values()) == len(list(ResultsStore(PROJECT / "results").trial_keys()))
    assert all(reason.startswith("it does not count: ") for reason in reasons)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("quarters of an hour", "halves of an hour", "has changed since it ran"),
        (
            "id: quarter-hour-default",
            "id: half-hour-default",
            "no dataset here has task quarter-hour-default",
        ),
    ],
)
def test_a_trial_whose_task_is_another_one_now_is_refused(
    old: str, new: str, reason: str, places: Places
) -> None:
    finished(places)
    script(places, "valid")
    path = places.datasets / "hello-world.yaml"
    path.write_text(path.read_text().replace(old, new))
    for other in places.datasets.glob("*sanity*"):
        other.unlink()
    code, output = judge(places)
    assert code == 0
    assert reason in output
    assert asked(places) == []


def test_a_trial_in_which_our_side_failed_is_not_the_agents_to_answer_for(places: Places) -> None:
    finished(places, "raise SystemExit(3)\n", max_retries=0)
    [stored] = ResultsStore(places.results).trials()
    script(places, "valid")
    _, output = judge(places)
    if stored.record.outcome is Outcome.INFRASTRUCTURE:
        assert "our side failed in it" in output
        assert asked(places) == []


def test_a_scripted_judge_judges_demonstrations_only(places: Places) -> None:
    finished(places)
    _, output = judge(places, {"judge": "replay"})
    assert "not judged: 1 trial: a judge with scripted answers may judge demonstrations only" in output
    assert judgements(ResultsStore(places.results)) == []


def test_settings_come_from_a_file_and_flags_beat_them(places: Places) -> None:
    store = finished(places)
    script(places, "valid")
    config = places.root / "judge.yaml"
    config.write_text(json.dumps({**FLAGS, "model": "judge-7", "effort": "low"}))
    judge(places, {"effort": "high"}, config=config)
    assert [each.judge.name for each in judgements(store)] == ["scripted-judge-7-high"]


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({"judge": "direct"}, "needs a provider"),
        ({"judge": "direct", "endpoint": "http://localhost:1/v1"}, "needs --model"),
        ({"judge": "codex"}, "needs --model"),
        ({"judge": "codex", "provider": "nowhere", "model": "m"}, "no provider 'nowhere'"),
        ({"judge": "nobody", "model": "m"}, "no judge 'nobody'"),
        ({**FLAGS, "rubrik": "x"}, "did you mean rubric"),
        ({**FLAGS, "repeats": "many"}, "repeats"),
        ({**FLAGS, "repeats": 0}, "repeats"),
        ({**FLAGS, "price_input": 1.0}, "price_input and price_output"),
        ({**FLAGS, "api_key_env": "NOT_SET_ANYWHERE", "provider": "endpoint", "endpoint": "http://x/v1"},
         "NOT_SET_ANYWHERE"),
    ],
)  # fmt: skip
def test_wrong_settings_are_explained(flags: dict[str, object], complaint: str, places: Places) -> None:
    finished(places)
    with pytest.raises((UsageError, ConfigurationError)) as caught:
        judge(places, flags)
    assert complaint in str(caught.value)


def test_a_path_in_no_store_is_explained(places: Places) -> None:
    with pytest.raises(UsageError, match="no store of results at this path"):
        judge(places, path=str(places.datasets))


def test_the_key_of_the_judge_is_in_no_record_and_no_journal(places: Places) -> None:
    finished(places)
    script(places, "wrong", "fail")
    judge(places)
    secret = ENVIRONMENT["STAND_IN_KEY"].encode()
    written = [path for path in places.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in written if secret in path.read_bytes()]


def test_a_judge_that_is_not_there_is_told_before_a_run(places: Places) -> None:
    check = probe("codex", places, {}, {"provider": "replay"})
    assert (check.state, check.fix) == (CheckState.FAIL, "invoke harness-install codex")
    check = probe("replay", places, {})
    assert check.state is CheckState.PASS
    assert "replay 1 with replay-judge at replay answered" in check.found
    check = probe("direct", places, {}, {"endpoint": "http://127.0.0.1:9/v1", "model": "m"})
    assert check.state is CheckState.FAIL
    assert "cannot be reached" in check.found
    check = probe("no-such.yaml", places, {})
    assert check.state is CheckState.FAIL


def test_two_judges_at_work_on_one_judgement_do_not_get_in_each_others_way(places: Places) -> None:
    store = finished(places)
    script(places, "valid")
    settings = read_judge_settings(None, FLAGS)
    [stored] = store.trials()
    with open_bench(settings, places, ENVIRONMENT) as bench:
        subject = subject_of(stored, places.datasets, None)
        lock = journal_of(bench, subject, 1).lock
        with locked(lock, wait=False, holder="a test"), pytest.raises(UsageError, match="another judge"):
            judge_trial(bench, store, stored.record.identity, 1)
        assert asked(places) == []
        assert judge_trial(bench, store, stored.record.identity, 1).record is not None


def test_a_panel_says_what_failed_and_what_is_judged(places: Places) -> None:
    store = finished(places)
    script(places, "fail", "valid")
    config = places.root / "judge.yaml"
    config.write_text(json.dumps({**FLAGS, "repeats": 2}))
    [stored] = store.trials()
    with open_panel(("judge.yaml",), store, places, ENVIRONMENT) as panel:
        assert not panel.is_judged(stored.record.identity)
        said = panel.judge(stored.record.identity)
        assert said is not None
        assert said.startswith("scripted-judge-1: the judge gave no answer: no route to the judge")
        assert not panel.is_judged(stored.record.identity)
        assert panel.spent(stored.record.identity) == Spent(usd=0.25, tokens=1000)
        assert panel.judge(stored.record.identity) is None
        assert panel.spent(stored.record.identity).tokens > 1000
        assert panel.is_judged(stored.record.identity)
        assert panel.judge(stored.record.identity) is None
    assert [(record.number, len(record.attempts)) for record in judgements(store)] == [(1, 2), (2, 1)]


def test_an_unscored_trial_is_told_to_the_run(places: Places) -> None:
    store = finished(places)
    script(places, "wrong")
    (places.root / "judge.yaml").write_text(json.dumps(FLAGS))
    [stored] = store.trials()
    with open_panel(("judge.yaml",), store, places, ENVIRONMENT) as panel:
        assert "task_score is 99" in (panel.judge(stored.record.identity) or "")
        # It is stored, so the run does not judge it again by itself.
        assert panel.is_judged(stored.record.identity)


def test_a_trial_that_its_judge_must_refuse_is_told_to_the_run(places: Places) -> None:
    store = finished(places)
    script(places, "valid")
    (places.root / "judge.yaml").write_text(json.dumps({**FLAGS, "repeats": 2}))
    path = places.datasets / "hello-world.yaml"
    path.write_text(path.read_text().replace("quarters of an hour", "halves of an hour"))
    [stored] = store.trials()
    with open_panel(("judge.yaml",), store, places, ENVIRONMENT) as panel:
        said = panel.judge(stored.record.identity) or ""
    assert said.startswith("scripted-judge-1: not judged: task ")
    assert said.endswith("has changed since it ran")
    assert asked(places) == []


def test_a_judgement_that_holds_a_secret_keeps_no_other_from_being_made(places: Places) -> None:
    store = finished(places)
    script(places, "valid")
    [stored] = store.trials()
    leaked = next(text for kind, text in planted().items() if "aws" in kind.lower())
    held = examples.judgement(stored.record.identity).model_copy(
        update={"trial_sha256": stored.record.digest(), "files_read": (leaked,)}
    )
    journal = Journal(journals(places) / ("0" * 24))
    journal.finish(held)
    with pytest.raises(SecretFound):
        store.write_judgement(stored.record.plan_id, held)
    code, output = judge(places)
    assert (code, "1 scored" in output) == (0, True)
    assert journal.finished() == held


def test_a_skill_that_no_rubric_is_for_is_told_to_the_run(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = finished(places)
    (places.root / "judge.yaml").write_text(json.dumps(FLAGS))
    monkeypatch.setattr(rubric, "RUBRICS", {})
    [stored] = store.trials()
    with open_panel(("judge.yaml",), store, places, ENVIRONMENT) as panel:
        assert not panel.is_judged(stored.record.identity)
        assert panel.judge(stored.record.identity) == "scripted-judge-1: no rubric is for skill 'fix'"


def test_two_judges_of_one_name_are_refused(places: Places) -> None:
    store = finished(places)
    for name in ("one.yaml", "two.yaml"):
        (places.root / name).write_text(json.dumps(FLAGS))
    with (
        pytest.raises(UsageError, match="two judges would write under one name"),
        open_panel(("one.yaml", "two.yaml"), store, places, ENVIRONMENT),
    ):
        pytest.fail("it was opened")


@pytest.mark.parametrize(
    ("judge", "model", "effort", "label"),
    [
        ("direct", "vendor/big-5", None, "direct-vendor-big-5"),
        ("codex", "us.vendor.big-5-v1:0", "high", "codex-big-5-high"),
        ("replay", "replay-judge", None, "replay-judge"),
        ("claude-code", "claude-big", None, "claude-code-claude-big"),
    ],
)
def test_a_judge_is_named_after_what_judges(judge: str, model: str, effort: str | None, label: str) -> None:
    flags = {"judge": judge, "model": model, "effort": effort, "provider": "replay"}
    assert read_judge_settings(None, flags).label == label


@pytest.mark.parametrize("content", ["- a\n- list\n", "judge: [", "1: 2\n", "x" * 70_000])
def test_a_file_that_holds_no_settings_is_refused(content: str, places: Places) -> None:
    path = places.root / "judge.yaml"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=r"judge\.yaml"):
        read_judge_settings(path, {})
