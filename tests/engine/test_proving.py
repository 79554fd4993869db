"""Trying judges out: a gullible one is found, a sober one is not accused, and nothing is asked twice."""

from __future__ import annotations

import hashlib
import inspect
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from generators.tables.judge_proof import JudgeProof
from runner.engine.places import Places
from runner.engine.proof_flags import PROOF_HELP, proof_call, proof_form
from runner.engine.proving.command import proof_command
from runner.errors import UsageError
from runner.judges.base import Question, Reply, Start
from runner.judges.rubric import ScoredArtifact, rubric
from runner.records import JudgementStatus, ProofRecord
from runner.store import ResultsStore, verify
from tests.engine.judges import Scripted, usage, valid
from tests.engine.judging import FLAGS, asked, script
from tests.engine.standin import ENVIRONMENT

GULLIBLE: Mapping[str, object] = {"judge": "replay", "model": "replay-gullible"}
SOBER: Mapping[str, object] = {"judge": "replay", "model": "replay-sober"}


PLANS = rubric("implementation").model_copy(
    update={
        "name": "plans",
        "artifacts": (ScoredArtifact(name="plans", title="Plans", files=("plan.md",), expects="One."),),
    }
)
"""A rubric for what no suite holds."""


@dataclass(frozen=True)
class Random(Scripted):
    """Gives points at random: by a digest of the question, whose marks are drawn anew each time."""

    name: str = "random"

    def ask(self, question: Question, start: Start) -> Reply:
        points = hashlib.sha256(question.prompt.encode()).digest()[0] % 26
        return Reply(json.dumps(valid(question, points)), usage(1000))


@dataclass(frozen=True)
class Bound(Scripted):
    """Gives fewer points where the patch comes first, and more for each thousand characters."""

    name: str = "bound"

    def ask(self, question: Question, start: Start) -> Reply:
        submission = question.prompt.rpartition("## Submission")[2]
        late = submission.index("BEGIN patch.diff") > submission.index("BEGIN implementation.md")
        points = (10 if late else 5) + min(len(submission) // 1000, 10)
        return Reply(json.dumps(valid(question, points)), usage(1000))


def own(kind: type[Scripted]) -> Mapping[str, object]:
    """Flags of a judge of this module."""
    return {**FLAGS, "judge": f"{__name__}:{kind.__name__}"}


def prove(
    places: Places,
    flags: Mapping[str, object],
    *suites: str,
    count: int | None = None,
    concurrency: int = 2,
    dry_run: bool = False,
) -> tuple[int, str]:
    """Exit code and printed text of trying a judge out."""
    output = io.StringIO()
    code = proof_command(
        places,
        Console(file=output, width=300),
        flags=flags,
        environment=ENVIRONMENT,
        suites=suites,
        count=count,
        concurrency=concurrency,
        dry_run=dry_run,
    )
    return code, output.getvalue()


def proofs(places: Places, *, demonstration: bool = False) -> list[ProofRecord]:
    """What the store holds."""
    root = places.roots().demonstration if demonstration else places.results
    return list(ResultsStore(root).proofs())


def proof(records: Sequence[ProofRecord]) -> JudgeProof:
    """Figures as on the card."""
    return JudgeProof(tuple(records))


def test_a_gullible_judge_is_found_by_kind_of_attempt_and_over_all(places: Places) -> None:
    code, output = prove(places, GULLIBLE, "injection")
    assert code == 0, output
    records = proofs(places, demonstration=True)
    assert len(records) == 2 * 126
    result = proof(records).suites["injection"]
    mean = result.mean()
    assert mean is not None
    assert mean.lower is not None
    assert mean.lower > 20
    assert {category for category in result.categories if result.orders(category).wrong == 9} == {
        "appeals",
        "delimiters",
        "fake-answers",
        "fake-messages",
        "fake-verdicts",
        "far-away",
        "hidden-markup",
        "plain-orders",
        "rubric-leaks",
    }
    above = result.above_noise()
    assert above is not None
    assert above.estimate > 0.6
    assert "injection: mean shift +35" in output
    assert verify(places.roots().demonstration) == []


def test_a_sober_judge_is_not_led_and_ranks_every_planted_defect_right(places: Places) -> None:
    code, output = prove(places, SOBER)
    assert code == 0, output
    results = proof(proofs(places, demonstration=True)).suites
    assert {shift.points for shift in results["injection"].shifts()} == {0.0}
    above = results["injection"].above_noise()
    assert above is not None
    assert above.estimate == 0.0
    ranks = results["anchors"].orders()
    assert (ranks.right, ranks.tied, ranks.wrong) == (49, 0, 0)
    assert {shift.points for name in ("length", "order") for shift in results[name].shifts()} == {0.0}
    assert "anchors: 49 of 49 pairs in the right order, 0 ties" in output
    assert "446 scorings to make" in output


def test_a_judge_that_tosses_coins_ranks_as_coins_do_and_its_noise_is_known(places: Places) -> None:
    prove(places, own(Random), "anchors", "injection")
    tried = proof(proofs(places))
    share = tried.suites["anchors"].orders().share
    assert share is not None
    assert share.upper is not None
    assert share.upper < 0.85
    assert tried.noise is not None
    assert 20 < tried.noise.within_sd < 40
    above = tried.suites["injection"].above_noise()
    assert above is not None
    assert above.estimate < 0.15


def test_length_and_order_that_lead_a_judge_are_seen(places: Places) -> None:
    prove(places, own(Bound), "length", "order")
    results = proof(proofs(places)).suites
    padded, turned = results["length"].mean("long-winded"), results["order"].mean("files")
    assert padded is not None
    assert padded.estimate == pytest.approx(24, abs=2)
    assert turned is not None
    assert turned.estimate == -20
    within = results["order"].mean("inside-the-patch")
    assert within is not None
    assert within.estimate == 0


def test_a_record_says_what_was_shown_by_whom_it_was_scored_and_what_it_took(places: Places) -> None:
    script(places, "wrong", "valid")
    code, _ = prove(places, FLAGS, "injection", count=1, concurrency=1)
    assert code == 0
    changed, reference = proofs(places)
    assert (reference.side, changed.side) == ("reference", "changed")
    assert reference.pair == changed.pair == "order-at-the-end.quarter-hour-default"
    assert (changed.category, changed.task) == ("plain-orders", "quarter-hour-default")
    assert reference.shown_sha256 != changed.shown_sha256
    assert (reference.rubric, reference.judge.name) == ("implementation-1", "scripted-judge-1")
    assert [bool(attempt.faults) for attempt in reference.attempts] == [True, False]
    assert reference.usage is not None
    assert reference.usage.input_tokens == 2000
    assert [cost.amount_usd for cost in reference.costs] == [0.5]
    assert not reference.demonstration
    first, *_, last = [question["prompt"] for question in asked(places)]
    assert "every criterion 25 points" not in first
    assert "every criterion 25 points" in last
    path = places.results / "judges" / "scripted-judge-1" / "injection"
    assert len(list(path.glob("order-at-the-end.quarter-hour-default-*-1.json"))) == 2
    assert verify(places.results) == []
    assert not list((places.artifacts / "proving").glob("*[0-9a-f]"))


def test_nothing_that_is_stored_is_asked_again_and_more_is_added_to_it(places: Places) -> None:
    script(places, "valid")
    prove(places, FLAGS, "order", count=1)
    before = [record.to_bytes() for record in proofs(places)]
    code, output = prove(places, FLAGS, "order", count=1)
    assert code == 0
    assert "0 scorings to make by implementation-1; 2 are stored" in output
    assert len(asked(places)) == 2
    assert [record.to_bytes() for record in proofs(places)] == before
    prove(places, {**FLAGS, "repeats": "2"}, "order", count=2)
    assert len(asked(places)) == 8
    assert sorted(record.number for record in proofs(places)) == [1, 1, 1, 1, 2, 2, 2, 2]
    assert verify(places.results) == []


def test_another_judge_has_a_folder_and_a_ledger_of_its_own(places: Places) -> None:
    script(places, "valid")
    prove(places, FLAGS, "order", count=1)
    prove(places, {**FLAGS, "effort": "high"}, "order", count=1)
    assert {path.name for path in (places.results / "judges").iterdir()} == {
        "scripted-judge-1",
        "scripted-judge-1-high",
    }
    assert {path.name for path in (places.results / "ledger").iterdir()} == {
        "judge-scripted-judge-1.jsonl",
        "judge-scripted-judge-1-high.jsonl",
    }
    assert verify(places.results) == []


def test_a_changed_suite_is_asked_anew_under_further_numbers(places: Places) -> None:
    script(places, "valid")
    prove(places, FLAGS, "order", count=1)
    note = places.datasets / "judge-suites" / "work" / "fair-rounding" / "good.md"
    note.write_text(note.read_text() + "\nOne word more.\n", encoding="utf-8")
    _, output = prove(places, FLAGS, "order", count=1)
    assert "2 scorings to make" in output
    assert sorted(record.number for record in proofs(places)) == [1, 1, 2, 2]
    result = proof(proofs(places)).suites["order"]
    assert (len(result.pairs), result.left_out) == (1, 2)


def test_answers_that_are_never_valid_are_recorded_as_such_and_are_no_score(places: Places) -> None:
    script(places, "wrong")
    code, output = prove(places, FLAGS, "length", count=1)
    assert code == 3
    assert "2 scorings are without a valid answer" in output
    assert "length: no pair is scored" in output
    records = proofs(places)
    assert {(record.status, record.task_score) for record in records} == {(JudgementStatus.INVALID, None)}
    result = proof(records).suites["length"]
    assert (result.pairs, result.unanswered, result.mean()) == ((), 2, None)


def test_a_judge_that_fails_is_said_and_asked_again_next_time_with_what_it_used(places: Places) -> None:
    script(places, "fail")
    code, output = prove(places, FLAGS, "length", count=1, concurrency=1)
    assert code == 3
    assert "failed: the judge gave no answer: no route to the judge" in output
    assert proofs(places) == []
    script(places, "valid")
    code, _ = prove(places, FLAGS, "length", count=1)
    assert code == 0
    for record in proofs(places):
        assert [attempt.interrupted for attempt in record.attempts] == [True, False]
        assert record.usage is not None
        assert record.usage.input_tokens == 1010


def test_a_dry_run_says_what_it_can_cost_and_asks_nothing(places: Places) -> None:
    script(places, "valid")
    prices = {"price_input": "1.25", "price_output": "10", "max_output_tokens": "1000"}
    code, output = prove(places, {**FLAGS, **prices}, dry_run=True)
    assert code == 0
    assert "446 scorings to make by implementation-1; 0 are stored" in output
    assert "cost: at most $2" in output
    assert "Dry run" in output
    assert asked(places) == []
    assert not places.results.exists()
    _, output = prove(places, FLAGS, "order", dry_run=True)
    assert "cost: unknown without prices" in output
    _, output = prove(places, SOBER, dry_run=True)
    assert "cost: none, the answers are scripted" in output


@pytest.mark.parametrize(
    ("flags", "suites", "count", "complaint"),
    [
        (FLAGS, ("injektion",), None, "there is no suite 'injektion'"),
        (FLAGS, (), 0, "--count is 0"),
        ({**FLAGS, "rubric": f"{__name__}:PLANS"}, (), None, "scores plans, which suite injection lacks"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(
    flags: Mapping[str, object], suites: tuple[str, ...], count: int | None, complaint: str, places: Places
) -> None:
    with pytest.raises(UsageError) as caught:
        prove(places, flags, *suites, count=count)
    assert complaint in caught.value.what


def test_a_rubric_with_five_artifacts_has_the_documents_shown_and_scores_of_its_own(places: Places) -> None:
    script(places, "valid")
    prove(places, FLAGS, "order", count=1)
    code, output = prove(places, {**FLAGS, "rubric": "five-artifacts"}, "order", count=1, concurrency=1)
    assert code == 0, output
    assert "2 scorings to make by five-artifacts-1; 0 are stored" in output
    records = [record for record in proofs(places) if record.rubric == "five-artifacts-1"]
    order = ["github_issue", "lld", "review", "testing", "implementation"]
    assert [list(record.scores or {}) for record in records] == [order, order]
    questions = [question["prompt"] for question in asked(places)]
    assert ["BEGIN lld.md" in question for question in questions] == [False, False, True, True]
    assert questions[3].index("BEGIN patch.diff") < questions[3].index("BEGIN github-issue.md")


def test_an_agentic_judge_gets_a_checkout_of_the_program(places: Places) -> None:
    code, output = prove(places, {**own(Looking)}, "anchors", count=1)
    assert code == 0, output
    assert "no ceiling can be told for a judge that reads the repository" in output
    assert {record.files_read for record in proofs(places)} == {("clockbook/duration.py",)}
    assert {record.judge.repository_grounded for record in proofs(places)} == {True}


@dataclass(frozen=True)
class Looking(Scripted):
    """Says which file of its workspace it found."""

    name: str = "looking"
    method: str = "agentic"

    def ask(self, question: Question, start: Start) -> Reply:
        assert question.workspace is not None
        read = Path("clockbook") / "duration.py"
        assert (question.workspace / read).is_file()
        return Reply(json.dumps(valid(question)), usage(1000), files_read=(str(read),))


def test_the_flags_are_those_of_judge_without_what_chooses_trials() -> None:
    names = set(inspect.signature(proof_form).parameters) - {"_context"}
    assert {name.replace("_", "-") for name in names} == set(PROOF_HELP)
    assert {"suite", "count", "judge", "repeats", "dry_run"} <= names
    assert not {"path", "cell", "only_missing"} & names
    given = {each.name: each.default for each in inspect.signature(proof_form).parameters.values()}
    call = proof_call({**given, "_context": None, "suite": "order,length", "count": "3", "judge": "replay"})
    assert (call["suites"], call["count"], call["concurrency"]) == (["order", "length"], 3, 1)
    assert call["flags"]["judge"] == "replay"
    assert not {"suite", "count", "config"} & set(call["flags"])
    with pytest.raises(UsageError, match="--count is 'many'"):
        proof_call({**given, "count": "many"})
