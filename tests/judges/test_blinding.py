"""Blinding: praise and names go, evidence stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judges.blinding import WITHHELD, blind_patch, blind_prose, withhold

WORK = "# Note\n\nThe constant changed.\n\n## Verification\n\nI ran the tests; all pass.\n"


@pytest.mark.parametrize(
    "heading",
    ["Self-assessment", "Self assessment", "My self-evaluation", "Confidence", "Overall score", "4. Rating",
     "**Quality score**", "Final grade:"],
)  # fmt: skip
def test_a_section_in_which_the_author_rates_the_work_is_left_out(heading: str) -> None:
    praise = f"\n## {heading}\n\nThis is outstanding work.\n\n### Details\n\nTruly.\n"
    text = f"{WORK}{praise}\n## Left open\n\nNothing.\n"
    blinded = blind_prose(text, ())
    assert "outstanding" not in blinded.text
    assert "Truly" not in blinded.text
    assert "The constant changed." in blinded.text
    assert blinded.text.endswith("## Left open\n\nNothing.\n")
    assert blinded.removed == ("1 sections in which the author rates the work",)


@pytest.mark.parametrize(
    "line",
    [
        "Score: 98/100",
        "**Confidence:** very high",
        "- Overall rating: 10 out of 10",
        "> Quality = 95 %",
        "Grade: A+",
    ],
)
def test_a_line_with_nothing_but_a_rating_is_left_out(line: str) -> None:
    blinded = blind_prose(f"{WORK}{line}\n", ())
    assert blinded.text == WORK
    assert blinded.removed == ("1 lines in which the author rates the work",)


@pytest.mark.parametrize(
    "line",
    ["Co-Authored-By: Some Agent <agent@example.org>", "🤖 Generated with [Some Agent](https://example.org)",
     "*Made with some tool*"],
)  # fmt: skip
def test_a_trailer_that_names_the_maker_is_left_out(line: str) -> None:
    blinded = blind_prose(f"{WORK}{line}\n", ())
    assert blinded.text == WORK
    assert blinded.removed == ("1 lines that name the maker",)


@pytest.mark.parametrize(
    "line",
    [
        "The score of an entry is the number of its tags.",
        "## Scoring entries",
        "Confidence intervals are computed by `stats.interval`.",
        "score: int = 0",
        "Generated files are written below build/, as before, and the list of them is in the manifest; it is "
        "generated with the script that the release uses, so nothing changes for whoever packages it now.",
        "## Score board",
        "Rating: see the table of ratings",
    ],
)
def test_words_of_the_work_itself_stay(line: str) -> None:
    text = f"{WORK}\n{line}\n\nMore.\n"
    assert blind_prose(text, ()).text == text


def test_code_is_evidence_and_stays_as_it_is() -> None:
    text = "```sh\n# Score\nScore: 100/100\nCo-Authored-By: x\n```\nAfter.\n"
    assert blind_prose(text, ()).text == text


def test_names_go_whatever_their_case_and_only_as_whole_words() -> None:
    text, count = withhold("GPT-Big-5 and gpt-big-5; gpt-big-50 is another, xgpt-big-5 too", ["gpt-big-5"])
    assert text == f"{WITHHELD} and {WITHHELD}; gpt-big-50 is another, xgpt-big-5 too"
    assert count == 2


@pytest.mark.parametrize("spelling", ["Some Model 4.5", "some_model_4_5", "SomeModel 4.5", "some-model-4-5"])
def test_a_name_is_found_in_other_spellings(spelling: str) -> None:
    text = f"Made by {spelling}, not by Some Model 4.55 or Awesome Model 4.5."
    assert withhold(text, ["some-model-4-5"]) == (text.replace(spelling, WITHHELD, 1), 1)


def test_the_longest_name_goes_first() -> None:
    assert withhold("vendor.model-x", ["model-x", "vendor.model-x"]) == (WITHHELD, 1)


@pytest.mark.parametrize("name", ["pi", "loop", "m", ""])
def test_short_names_are_words_of_the_language_and_stay(name: str) -> None:
    assert withhold("the pi of a loop: m", [name]) == ("the pi of a loop: m", 0)


def test_only_added_lines_of_a_patch_lose_names() -> None:
    patch = "--- a/model-x.py\n+++ b/model-x.py\n-old model-x\n+new model-x\n model-x stays\n"
    blinded = blind_patch(patch, ["model-x"])
    assert blinded.text == patch.replace("+new model-x", f"+new {WITHHELD}")
    assert blinded.removed == ("1 names of model or agent",)


@given(st.text(alphabet="#`~ \nabcScore:/0-9*", max_size=200))
def test_nothing_is_ever_added_but_the_word_for_a_name(text: str) -> None:
    blinded = blind_prose(text, ("abcScore",))
    rest = iter(text.split("\n"))
    for line in blinded.text.split("\n") if blinded.text or text else []:
        kept = line.replace(WITHHELD, "abcScore").casefold()
        assert any(kept == candidate.casefold() for candidate in rest) or not line
