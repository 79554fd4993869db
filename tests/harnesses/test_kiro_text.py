"""What kiro-cli prints, read without trust: the trailer is the only sign of success and the only number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.base import Reading, stderr_beside
from runner.harnesses.kiro_text import plain_lines, read_run, trace_line, trailers
from runner.records import CostBasis
from tests.harnesses.kiro_standin import TRANSCRIPTS

PLAYED = json.loads(TRANSCRIPTS.read_text(encoding="utf-8"))


def reading(folder: Path, stdout: str, stderr: str, price: float | None = None) -> Reading:
    out = folder / "stdout"
    out.write_text(stdout, encoding="utf-8")
    stderr_beside(out).write_text(stderr, encoding="utf-8")
    return read_run(out, stderr_beside(out), price)


def played(folder: Path, name: str, price: float | None = None) -> Reading:
    return reading(folder, PLAYED[name].get("stdout", ""), PLAYED[name].get("stderr", ""), price)


@pytest.mark.parametrize(
    ("name", "spent"),
    [
        ("solves", 0.21),
        ("short", 0.07),
        ("trailer-on-stdout", 1.30),
        ("older-trailer", 0.40),
        ("drawn-over", 2.20),
    ],
)
def test_every_known_spelling_of_the_trailer_ends_a_run_well_and_tells_its_credits(
    name: str, spent: float, tmp_path: Path
) -> None:
    found = played(tmp_path, name)
    assert (found.is_error, found.error, found.stop_reason) == (False, None, "end")
    [cost] = found.costs
    assert (cost.basis, cost.credits_used) == (CostBasis.CREDITS, spent)


def test_tokens_and_turns_are_unknown_and_not_zero(tmp_path: Path) -> None:
    found = played(tmp_path, "solves")
    assert (found.usage, found.turns, found.retries) == (None, None, None)


def test_credits_have_dollars_only_at_a_price_that_the_user_gave(tmp_path: Path) -> None:
    [cost] = played(tmp_path, "solves").costs
    assert cost.amount_usd is None
    assert "--kiro-dollars-per-credit" in (cost.missing_reason or "")
    [cost] = played(tmp_path, "solves", 0.04).costs
    assert (cost.amount_usd, cost.missing_reason) == (0.0084, None)
    [cost] = played(tmp_path, "solves", 0.02).costs
    assert cost.amount_usd == 0.0042


@pytest.mark.parametrize("told", ["0,07", "9" * 400, "1.2.3", "1,23,456", ",", "1e5"])
def test_credits_in_a_form_that_can_be_misread_are_unknown(told: str, tmp_path: Path) -> None:
    assert [cost.credits_used for cost in reading(tmp_path, "", f"Credits: {told}\n", 0.04).costs] == [None]


@pytest.mark.parametrize(("told", "used"), [("1,234.50", 1234.5), ("12", 12.0), ("0.07.", 0.07)])
def test_credits_may_be_many(told: str, used: float, tmp_path: Path) -> None:
    assert [cost.credits_used for cost in reading(tmp_path, "", f"Credits: {told}\n", 0.04).costs] == [used]


def test_a_price_of_nothing_is_a_price(tmp_path: Path) -> None:
    [cost] = played(tmp_path, "solves", 0.0).costs
    assert (cost.amount_usd, cost.credits_used) == (0.0, 0.21)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no-credential", "Authentication failed"),
        ("no-trailer", "without meaning"),
        ("crash", "panicked"),
    ],
)
def test_a_run_without_a_trailer_has_failed_in_the_programs_own_words(
    name: str, words: str, tmp_path: Path
) -> None:
    found = played(tmp_path, name, 0.04)
    assert found.is_error
    assert words in (found.error or "")
    [cost] = found.costs
    assert (cost.amount_usd, cost.credits_used) == (None, None)
    assert cost.missing_reason


def test_a_trailer_in_the_middle_of_the_models_own_text_is_none(tmp_path: Path) -> None:
    assert played(tmp_path, "boasts").is_error


def test_what_the_model_writes_last_does_not_beat_the_programs_own_trailer(tmp_path: Path) -> None:
    found = reading(tmp_path, "> done\n▸ Credits: 0.00 • Time: 1s\n", "▸ Credits: 3.50 • Time: 9s\n")
    assert found.costs[0].credits_used == 3.5


def test_a_trailer_without_credits_ends_a_run_whose_cost_is_unknown(tmp_path: Path) -> None:
    found = played(tmp_path, "time-only", 0.04)
    assert not found.is_error
    assert (found.costs[0].credits_used, found.costs[0].amount_usd) == (None, None)


def test_several_trailers_add_up_and_one_without_credits_makes_the_sum_unknown(tmp_path: Path) -> None:
    two = " ▸ Credits: 0.25 • Time: 4s\n ▸ Credits: 0.50 • Time: 1m 2s\n"
    assert reading(tmp_path, "", two).costs[0].credits_used == 0.75
    assert reading(tmp_path, "", two + " ▸ Time: 4s\n").costs[0].credits_used is None


@pytest.mark.parametrize(
    ("line", "spent"),
    [
        ("▸ Credits: 1,234.5 • Time: 2h 1m 3s", 1234.5),
        ("Credits used: 7", 7.0),
        ("Time: 12s • Credits: 0.3", 0.3),
        ("Credits: 0.05 • Total time: 3.2s", 0.05),
        ("credits: . • time: 4s", None),
    ],
)
def test_other_spellings_that_a_release_could_use(line: str, spent: float | None) -> None:
    assert list(trailers([line])) == [spent]


@pytest.mark.parametrize(
    "line",
    [
        "the credits: 12 are in the file",
        "Credits: none",
        "time: soon",
        "social credits: 3 points",
        "x" * 5000 + " Credits: 1",
    ],
)
def test_a_sentence_about_credits_is_no_trailer(line: str) -> None:
    assert list(trailers([line])) == []


def test_nothing_at_all_is_a_failed_run_without_a_cost(tmp_path: Path) -> None:
    found = read_run(tmp_path / "nothing", tmp_path / "neither", 0.04)
    assert found.is_error
    assert found.costs == ()


def test_of_an_endless_output_only_the_end_is_read(tmp_path: Path) -> None:
    found = reading(tmp_path, "x" * 9_000_000, "y\n" * 3_000_000 + " ▸ Credits: 0.5 • Time: 1s\n")
    assert found.costs[0].credits_used == 0.5


@given(st.binary(max_size=400), st.binary(max_size=400))
def test_any_bytes_are_read_without_an_exception(stdout: bytes, stderr: bytes) -> None:
    lines = plain_lines(stdout + b"\n" + stderr)
    assert all(line == line.strip() and "\n" not in line for line in lines)
    assert all(each is None or each >= 0 for each in trailers(lines))


@given(st.text(alphabet="\x1b[]0;9mAK78\\\x07()B credits:.5\r\n", max_size=300))
def test_broken_escape_sequences_never_break_the_reader(text: str) -> None:
    for line in plain_lines(text.encode()):
        assert "\r" not in line


def test_an_observer_sees_tool_calls_and_answers_and_nothing_else() -> None:
    traced = [trace_line(line) for line in PLAYED["solves"]["stdout"].splitlines()]
    assert [line for line in traced if line] == [
        "  read Reading file: clockbook/duration.py, all lines",
        "answer: The default step is 15 minutes now.",
    ]
