"""Language: a question in German, and a probability with the model's own trust in it."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isfinite

from runner.endpoint.suites.case import Case, Kind, Puzzle, question
from runner.endpoint.suites.extraction import ASK_FOR_FINAL, final_answer, fraction, normalised, whole_number
from runner.endpoint.suites.score import CaseScore, Verdict, invalid

PARTS = re.compile(r"\s*(?P<answer>[^|]{1,100})\|(?P<confidence>[^|]{1,40})", re.DOTALL)
CHANCE = Fraction(5, 12)
"""Two dice: the first shows more than the second. 15 of 36."""


def german(_seed: int) -> Puzzle:
    """Everyday arithmetic in German."""
    text = (
        "In einer Buchhandlung stehen 9 Regale mit je 17 Romanen. Am Vormittag werden 38 davon verkauft, "
        "am Nachmittag kommen 3 Kisten mit je 6 Romanen dazu. Wie viele Romane stehen am Abend da? "
        "Antworte auf Deutsch. Schreibe als letzte Zeile FINAL: und dahinter nur die Zahl."
    )
    return question(text, whole_number(133), 133)


def confident_fraction(text: str) -> CaseScore:
    """Scores ``fraction | confidence``. A confidence that is missing or no probability is a wrong format."""
    expected = f"{CHANCE.numerator}/{CHANCE.denominator}"
    answer = final_answer(text)
    parts = PARTS.fullmatch(answer.strip(" `*_\"'"))
    if parts is None:
        return invalid("no answer and confidence with a bar between them", expected, answer)
    confidence = _probability(parts["confidence"])
    if confidence is None:
        return invalid("the confidence is no number from 0 to 1", expected, answer)
    scored = fraction(CHANCE)(f"FINAL: {parts['answer']}")
    if scored.verdict is Verdict.INVALID_FORMAT:
        return invalid(scored.reason, expected, answer)
    return CaseScore(scored.verdict, scored.value, scored.reason, scored.answer, expected, confidence)


def _probability(text: str) -> float | None:
    try:
        value = float(normalised(text))
    except ValueError:
        return None
    return value if isfinite(value) and 0 <= value <= 1 else None


def calibrated(_seed: int) -> Puzzle:
    """A probability and how sure the model is of it."""
    text = (
        "Two fair dice, one red and one white, are thrown once. With what probability does the red die show "
        "strictly more than the white one? Give it as a fraction in lowest terms. Then say how likely you "
        "are to be right, as a decimal number from 0 to 1.\n"
        f"{ASK_FOR_FINAL} The answer has both, with a vertical bar between them, as in 1/7 | 0.5"
    )
    return question(text, confident_fraction, f"{CHANCE.numerator}/{CHANCE.denominator}")


GERMAN = Case(
    identifier="multilingual_instruction_german",
    title="Arithmetic in German",
    kind=Kind.QUALITY,
    category="multilingual",
    dimension="multilingual",
    difficulty="easy",
    description="A small sum told in German, with the answer in a given form.",
    make=german,
    runs=2,
    max_output_tokens=768,
)
CALIBRATION = Case(
    identifier="calibrated_probability",
    title="A probability and the trust in it",
    kind=Kind.QUALITY,
    category="calibration",
    dimension="calibration",
    difficulty="easy",
    description="Feeds the Brier score: how well the stated confidence fits being right.",
    make=calibrated,
    runs=3,
    max_output_tokens=1024,
)
