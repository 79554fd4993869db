"""What a judge's card says of how it was tried out: intervals, gaps, and demonstrations apart."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from generators.sources import load_worlds
from generators.tables.judge_proof import KNOWN
from runner.records import JudgementStatus, ProofRecord, sha256_of
from runner.store import ResultsStore
from tests import examples
from tests.generators.pages.shown import Shown
from tests.generators.pages.test_judge_pages import shown
from tests.generators.tables.made import ROOT, Made, write

CARD = "judges/second-opinion-judge-model-0.1.0-implementation-1.md"
SHIFTS: Mapping[str, Mapping[str, Sequence[float]]] = {
    "injection": {"plain-orders": (6, 8, 10), "hidden-markup": (0, -1, 1)},
    "anchors": {"no-op": (-40, -30), "half-done": (-5, 0, 5)},
    "length": {"restated": (1, 2, 3)},
    "order": {"files": (0, 0)},
}


def made(suite: str, category: str, number: int, shift: float) -> Sequence[ProofRecord]:
    """Both sides of a pair; references of a judge whose scores scatter by two points."""
    before = 50.0 + 2 * (number % 3 - 1)
    facts: dict[str, object] = {"suite": suite, "category": category, "pair": f"{category}.{number}"}
    fixed: dict[str, object] = {"status": JudgementStatus.SCORED, "scores": None}
    return [
        examples.proof(
            **facts, **fixed, side="reference", task_score=before, shown_sha256=sha256_of(suite.encode())
        ),
        examples.proof(
            **facts,
            **fixed,
            side="changed",
            task_score=before + shift,
            shown_sha256=sha256_of(f"{category}{number}".encode()),
        ),
    ]


def all_made() -> list[ProofRecord]:
    """Records of every suite."""
    return [
        record
        for suite, categories in SHIFTS.items()
        for category, shifts in categories.items()
        for number, shift in enumerate(shifts)
        for record in made(suite, category, number, shift)
    ]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """A judge that scored one trial and was tried out with every suite."""
    root = tmp_path_factory.mktemp("tried")
    store = write(root, [Made("task-a")])
    for record in all_made():
        store.write_proof(record)
    return shown(root)


@pytest.fixture(scope="module")
def card(pages: dict[str, Shown]) -> Shown:
    """Its card."""
    return pages[CARD]


def test_the_shift_by_injected_text_has_an_interval_for_each_kind_and_over_all(card: Shown) -> None:
    rows = {row["Kind of attempt"]: row for row in card.table("Shift by injected text")}
    assert list(rows) == ["All", "Hidden markup", "Plain orders"]
    assert rows["Plain orders"]["Mean shift"] == "8.0 (3.0 to 13.0, n = 3)"
    assert rows["All"]["Pairs"] == "6"
    assert rows["All"]["Moved up beyond noise"].startswith("0.50 (")
    assert rows["Hidden markup"]["Moved up beyond noise"].startswith("0.00 (")
    assert "Noise of one scoring of the same submission" in card.source


def test_what_it_took_stands_among_the_facts(card: Shown) -> None:
    facts = card.facts()
    assert facts["Scorings when it was tried out"] == "32 0 without a valid answer"
    assert facts["Cost of trying it out"] == "$16.00 of 32 of 32 scorings; price table, 2026-01-31"


def test_the_chart_has_a_line_at_nothing_and_a_row_for_each_kind(card: Shown) -> None:
    assert 'id="chart-injection-second-opinion-implementation-1"' in card.source
    assert "points, attacked minus clean" in card.source
    assert card.source.count('class="hm-y"') == 2 * 3


def test_the_attempts_that_moved_it_most_are_named(card: Shown) -> None:
    rows = card.table("Attempts that moved the score most")
    assert [(row["Pair"], row["Shift"]) for row in rows][:2] == [
        ("plain-orders.2", "+10.0"),
        ("plain-orders.1", "+8.0"),
    ]
    assert len(rows) == 4


def test_planted_defects_are_ranked_with_ties_apart(card: Shown) -> None:
    rows = {row["Planted defect"]: row for row in card.table("Order of good and spoilt submissions")}
    ranks = [(row["Ranked right"], row["Tied"], row["Ranked wrong"]) for row in rows.values()]
    assert ranks == [("3", "1", "1"), ("1", "1", "1"), ("2", "0", "0")]
    assert rows["All"]["Share ranked right"].startswith("0.60 (0.23 to 0.88, n = 5)")


def test_length_and_order_are_shown_as_differences(card: Shown) -> None:
    padded = card.table("Padded minus plain: length")
    assert [row["Padded minus plain"] for row in padded] == ["2.0 (-0.5 to 4.5, n = 3)"] * 2
    [_, files] = card.table("Other order minus usual order: order")
    assert files["Other order minus usual order"].startswith("0.0 (n = 2, too few or too alike")


def test_the_index_has_both_figures_and_leads_to_the_explanation(pages: dict[str, Shown]) -> None:
    index = pages["judges/index.md"]
    [row] = index.table("Judges")
    assert row["Shift by injected text"] == "+4.0 n = 6"
    assert row["Planted defects ranked right"] == "3 of 5"
    assert index.links()["How judges are tried out, and how to try out your own"] == "../judge-proof/"
    assert (ROOT / "site_src" / "judge-proof.md").is_file()


def test_a_judge_that_was_only_tried_out_has_a_card_too(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path)
    for record in made("injection", "plain-orders", 1, 4):
        store.write_proof(record)
    pages = shown(tmp_path)
    assert "No trial was scored by it" in pages[CARD].source
    assert pages[CARD].source.count("Not measured") == 5
    assert pages["judges/index.md"].table("Judges")[0]["Trials scored"] == "0"


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    store = write(tmp_path, [Made("task-a")])
    whole, half = made("injection", "plain-orders", 1, 4), made("injection", "plain-orders", 2, 4)
    old = {"suite_sha256": sha256_of(b"old"), "suite_version": "0", "number": 2}
    for record in (*whole, half[0], whole[0].model_copy(update=old)):
        store.write_proof(record)
    source = shown(tmp_path)[CARD].source
    assert "version 1 of the suite; 1 pairs with a score on one side only, left out" in source
    assert "1 scorings of other versions of the suite, left out" in source


def test_a_suite_of_ones_own_is_shown_beside_the_known_ones(tmp_path: Path) -> None:
    store = write(tmp_path, [Made("task-a")])
    for record in made("our-tricks", "one", 1, 4):
        store.write_proof(record)
    [row] = shown(tmp_path)[CARD].table("Other suites")
    assert (row["Suite"], row["Pairs"]) == ("our-tricks", "1")
    assert "our-tricks" not in KNOWN


def test_scripted_scorings_are_no_part_of_the_real_pages_and_the_other_way_round(tmp_path: Path) -> None:
    store = write(tmp_path, [Made("task-a")])
    for record in made("injection", "plain-orders", 1, 4):
        store.write_proof(record.model_copy(update={"demonstration": True}))
    assert shown(tmp_path)[CARD].source.count("Not measured") == 6
    world, _ = load_worlds(tmp_path, ROOT / "datasets")
    assert world.proofs == ()
    demonstration = ResultsStore(tmp_path / "demonstration")
    for record in made("injection", "plain-orders", 1, 4):
        demonstration.write_proof(record)
    assert load_worlds(tmp_path, ROOT / "datasets")[0].proofs == ()


def test_nothing_that_a_record_says_becomes_markup(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>](javascript:x)"
    store = write(tmp_path, [Made("task-a")])
    for record, number in zip(all_made(), itertools.count(), strict=False):
        judge = record.judge.model_copy(update={"model": hostile})
        store.write_proof(
            record.model_copy(
                update={
                    "judge": judge,
                    "verdict": hostile,
                    "suite_version": hostile[:20],
                    "number": number + 1,
                }
            )
        )
    for page in shown(tmp_path).values():
        assert "<script" not in page.source
        assert 'href="javascript' not in page.source
