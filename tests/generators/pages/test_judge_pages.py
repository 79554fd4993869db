"""Judge cards on the site: what was measured, what was not, and no word of a judge as markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators.pages.registry import PAGE_KINDS
from generators.pages.rendering import Renderer
from generators.sources import load_worlds
from runner.records import CheckStatus, Cost, CostBasis, Judge, JudgementRecord, JudgementStatus
from runner.store import ResultsStore
from tests import examples
from tests.generators.pages.shown import Shown
from tests.generators.tables.made import ROOT, Made, write

PASSED, FAILED = CheckStatus.PASSED, CheckStatus.FAILED
KINDS = {"judge", "cell", "trial", "about a run"}


def shown(results: Path) -> dict[str, Shown]:
    """Pages about judges and cells of a store, by path."""
    world, _ = load_worlds(results, ROOT / "datasets")
    renderer = Renderer()
    pages = [page for kind in PAGE_KINDS if kind.name in KINDS for page in kind.make(world, None)]
    return {page.path: Shown(page, renderer.render(page)) for page in pages}


def again(made: Made, number: int, points: int, judge: Judge | None = None) -> JudgementRecord:
    """One more judgement of a made trial."""
    (first,) = made.judgements()
    scores = {
        name: score.model_copy(update={"risk_awareness": points - 55, "total": points})
        for name, score in (first.scores or {}).items()
    }
    return first.model_copy(
        update={
            "number": number,
            "scores": scores,
            "task_score": float(points),
            "judge": judge or first.judge,
        }
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Three trials, two of them judged twice by one judge and once by another, with checks."""
    root = tmp_path_factory.mktemp("judged")
    trials = [
        Made("task-a", checks=(PASSED,)),
        Made("task-b", points=(19, 14, 22, 5), checks=(FAILED,)),
        Made("task-c", checks=(PASSED,)),
    ]
    store = write(root, trials)
    other = examples.judgement().judge.model_copy(update={"name": "third-opinion", "version": "2.0"})
    for made, points in zip(trials[:2], (73, 64), strict=True):
        store.write_judgement(examples.PLAN_ID, again(made, 2, points))
        store.write_judgement(examples.PLAN_ID, again(made, 1, points, other))
    return shown(root)


@pytest.fixture(scope="module")
def card(pages: dict[str, Shown]) -> Shown:
    """The card of the judge with most judgements."""
    return pages["judges/second-opinion-judge-model-0.1.0-implementation-1.md"]


def test_the_index_names_every_judge_with_what_was_measured(pages: dict[str, Shown]) -> None:
    first, second = pages["judges/index.md"].table("Judges")
    assert first["Judge"] == "second-opinion judge-model, 0.1.0"
    assert (first["Judgements"], first["Trials scored"]) == ("5", "3")
    assert first["Points between repeats"].startswith("2.2")
    assert second["Points between repeats"] == "not measured"
    assert pages["judges/index.md"].links()["second-opinion"].startswith("second-opinion-judge-model")


def test_a_card_shows_repeats_other_judges_and_tests(card: Shown) -> None:
    facts = card.facts()
    assert facts["Standard deviation of one judgement"] == "2.24 points"
    assert facts["Trials judged again"] == "2 4 judgements"
    (pairing,) = card.table("Agreement with other judges")
    assert pairing["Other judge"] == "third-opinion (judge-model, 2.0)"
    assert pairing["Common trials"] == "2"
    assert "1.00 (n = 3" in card.source
    assert "score 60 to 80" in card.source


def test_few_trials_carry_no_claim(card: Shown) -> None:
    assert "3 scored trials: too few for any claim" in card.source


def test_the_score_of_a_cell_says_how_many_judgements_stand_behind_it(pages: dict[str, Shown]) -> None:
    cell = pages["cells/model-a_endpoint/loop/fix/hello-world/index.md"]
    facts = cell.facts()
    assert facts["Judgements behind the scores"] == "5 of 3 trials a trial's score is their mean"
    assert "2.2 points by its repeats" in facts["Interval of the mean score"]
    assert cell.links()["the judge's card"].endswith(
        "judges/second-opinion-judge-model-0.1.0-implementation-1/"
    )
    assert "other-judge-left-out" in cell.source


def test_a_trial_shows_what_its_judges_saw_said_and_took(tmp_path: Path) -> None:
    made = Made("task-a", points=None)
    store = ResultsStore(tmp_path)
    store.write_plan(examples.plan(made.identity))
    hostile = "<script>alert(1)</script>"
    judgement = examples.judgement(made.identity)
    told = judgement.model_copy(update={"verdict": hostile, "notes": {"implementation": "Too short."}})
    invalid = told.model_copy(
        update={
            "number": 2,
            "status": JudgementStatus.INVALID,
            "scores": None,
            "task_score": None,
            "invalid_reason": "the sum is wrong",
            "costs": (),
            "usage": None,
            "duration_seconds": None,
        }
    )
    store.write_trial(made.record(), judgements=[told, invalid], artifacts=made.files)
    page = shown(tmp_path)["cells/model-a_endpoint/loop/fix/hello-world/task-a/1.md"]
    first, second = page.table("Judgements of this trial")
    assert first["Score"] == "75.0"
    assert first["Cost"].startswith("$") or "not known" in first["Cost"]
    assert second["Status"] == "no valid answer the sum is wrong"
    assert (second["Score"], second["Tokens"], second["Seconds"]) == ("no score", "not known", "not recorded")
    assert page.labels().count("What the judges were shown") == 1
    assert "Too short." in page.source
    assert "<script" not in page.source


def test_what_was_not_measured_is_said_with_what_would_measure_it(tmp_path: Path) -> None:
    write(tmp_path, [Made("task-a")])
    (path,) = [path for path in shown(tmp_path) if path.startswith("judges/second")]
    source = shown(tmp_path)[path].source
    assert source.count("Not measured") == 6
    assert "--repeats 3" in source
    for suite in ("injection", "anchors", "length", "order"):
        assert f"<code>invoke judge-proof --suite {suite}</code>" in source
    assert shown(tmp_path)[path].links()["what it asks"] == "../../judge-proof/"
    assert "not measured: no trial of this judge has both" in source


def test_without_judgements_there_are_no_pages_and_no_links_to_any(tmp_path: Path) -> None:
    write(tmp_path, [Made("task-a", points=None)])
    pages = shown(tmp_path)
    assert not [path for path in pages if path.startswith("judges/")]
    assert "judges/" not in pages["about-a-run.md"].source


def test_what_a_judge_is_called_never_becomes_markup(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>](javascript:x)"
    made = Made("task-a", rubric=hostile)
    store = ResultsStore(tmp_path)
    store.write_plan(examples.plan(made.identity))
    (judgement,) = made.judgements()
    judge = judgement.judge.model_copy(update={"model": hostile, "version": hostile})
    store.write_trial(
        made.record(), judgements=[judgement.model_copy(update={"judge": judge})], artifacts=made.files
    )
    for page in shown(tmp_path).values():
        assert "<script" not in page.source
        assert 'href="javascript' not in page.source


def test_the_committed_results_have_a_card_for_their_judge() -> None:
    pages = shown(ROOT / "results")
    cards = [page for path, page in pages.items() if path.startswith("judges/openai")]
    assert len(cards) >= 2
    assert all(page.facts()["Asked again"] == "not recorded" for page in cards)
    assert any(page.table("Rank correlation of criteria") for page in cards if page.labels())
    said = {page.facts()["Judgements"] for page in cards}
    assert "378 364 trials have a score from it, 5 of them left out of all figures but these" in said


def test_a_cheap_and_quick_judgement_did_not_cost_and_take_nothing(tmp_path: Path) -> None:
    made = Made("task-a")
    store = ResultsStore(tmp_path)
    store.write_plan(examples.plan(made.identity))
    (judgement,) = made.judgements()
    cost = Cost(basis=CostBasis.METERED, amount_usd=0.00003, source="a gateway")
    told = judgement.model_copy(update={"costs": (cost,), "duration_seconds": 0.02})
    store.write_trial(made.record(), judgements=[told], artifacts=made.files)
    (facts,) = [page.facts() for path, page in shown(tmp_path).items() if path.startswith("judges/second")]
    assert facts["Cost of a judgement"].startswith("$0.00003 mean of 1 of 1; metered")
    assert facts["Time of a judgement"].startswith("0.02 s mean of 1 of 1")
