"""The accounting table: what agrees, what does not, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import pytest

from runner.harnesses.accounting import CASES, CLASSES, Row, cases_of
from runner.harnesses.accounting_cassette import usage
from runner.harnesses.accounting_table import to_markdown, to_rows
from runner.harnesses.base import Reading
from runner.harnesses.counts import classes_not_told, reasoning_not_reported
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from runner.records import DataWarning

NOTHING = dict.fromkeys(CLASSES, 0)
TRUE = {"fresh": 4006, "read": 12000, "write": 1200, "output": 166, "reasoning": 20}
READING = Reading(stop_reason="completed", is_error=False, turns=4, retries=0)
ROW = Row("pi", WireProtocol.MESSAGES, CASES[0], 4, 4, dict(TRUE), TRUE, NOTHING, NOTHING, READING)


def with_recorded(changes: Mapping[str, int | None], row: Row = ROW) -> Row:
    return replace(row, recorded={**row.recorded, **changes})


def test_equal_counts_agree() -> None:
    assert ROW.agrees


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("off", [1, -1, None])
def test_a_class_that_is_off_by_one_or_unknown_does_not_agree(name: str, off: int | None) -> None:
    assert not with_recorded({name: None if off is None else TRUE[name] + off}).agrees


def test_unknown_agrees_where_nothing_was_told() -> None:
    row = replace(ROW, true=NOTHING, recorded=dict.fromkeys(CLASSES))
    assert row.agrees
    assert not with_recorded({"fresh": 1}, row).agrees


def test_what_was_told_of_a_broken_answer_may_be_counted_or_not() -> None:
    partly = {"fresh": 1001, "read": 4002, "write": 303, "output": 1, "reasoning": 0}
    row = replace(ROW, partly=partly, broken={**NOTHING, "output": 105})
    assert row.agrees
    assert with_recorded({name: TRUE[name] + partly[name] for name in CLASSES}, row).agrees
    assert with_recorded({"output": 166 + 9}, row).agrees
    assert not with_recorded({"output": 166 + 106}, row).agrees
    assert not with_recorded({"fresh": 4006 + 9}, row).agrees


def test_the_table_shows_one_number_where_both_agree_and_both_where_not() -> None:
    table = to_markdown([with_recorded({"output": 160, "reasoning": None})], {"pi": "1.6.0"})
    head, rule, line = table.strip().splitlines()
    assert head.count("|") == rule.count("|") == line.count("|")
    assert "| pi 1.6.0 | messages | Plain run | 4 | 4 | 0 | 4,006 | 12,000 | 1,200 |" in line
    assert "| 160 / 166 | unknown / 20 | no |" in line


DAY = date(2026, 1, 31)


def test_the_values_for_the_site_hold_every_figure() -> None:
    (row,) = to_rows([ROW], {"pi": "1.6.0"}, DAY)
    assert (row.harness, row.version, row.case, row.taken_on) == ("pi", "1.6.0", "plain", DAY)
    assert row.recorded == row.true == TRUE
    assert row.agrees is True
    assert row.stand_in is False


def test_only_counts_that_differ_are_explained() -> None:
    told = replace(READING, warnings=(DataWarning(code="lost-in-translation", text="No writes."),))
    equal, other = to_rows(
        [replace(ROW, reading=told), with_recorded({"write": None}, replace(ROW, reading=told))], {}, DAY
    )
    assert (equal.explanation, other.explanation) == ("", "No writes.")
    assert other.warnings == ("lost-in-translation",)


def test_no_two_sums_of_answers_of_a_thread_are_equal() -> None:
    sums = {}
    for chosen in range(1 << 5):
        picked = [usage(step) for step in range(5) if chosen >> step & 1]
        total = tuple(sum(each[name] for each in picked) for name in ("uncached", "output", "reasoning"))
        assert total not in sums
        sums[total] = chosen


def test_harnesses_without_subagents_are_spared_the_cases_with_them() -> None:
    assert not any(case.delegates for case in cases_of(harness("pi")))
    assert sum(case.delegates for case in cases_of(harness("codex"))) == 2


LEFT_OUT = {"fresh": TRUE["fresh"] + TRUE["write"], "write": None, "reasoning": None}


def test_classes_that_a_harness_says_it_leaves_out_are_not_held_against_it() -> None:
    silent = with_recorded(LEFT_OUT)
    assert not silent.agrees
    frank = replace(silent, reading=replace(READING, warnings=(classes_not_told("qwen-code"),)))
    assert frank.agrees
    assert not frank.equal
    assert "| as far as it tells |" in to_markdown([frank], {})


def test_reasoning_that_a_harness_says_it_does_not_tell_is_not_held_against_it() -> None:
    silent = with_recorded({"reasoning": None})
    assert not silent.agrees
    frank = replace(silent, reading=replace(READING, warnings=(reasoning_not_reported(),)))
    assert frank.agrees
    assert frank.leaves_out == {"reasoning"}
    assert not with_recorded({"write": None}, frank).agrees
    assert not with_recorded({"reasoning": 3}, frank).agrees


@pytest.mark.parametrize(
    "wrong", [{"fresh": TRUE["fresh"]}, {"read": None}, {"output": TRUE["output"] + 1}, {"write": 7}]
)
def test_what_such_a_harness_does_tell_has_to_agree(wrong: Mapping[str, int | None]) -> None:
    frank = replace(ROW, reading=replace(READING, warnings=(classes_not_told("qwen-code"),)))
    assert not with_recorded({**LEFT_OUT, **wrong}, frank).agrees
