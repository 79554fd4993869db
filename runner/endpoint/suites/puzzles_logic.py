"""Logic puzzles: bits under constraints, a program to trace, and a cipher to follow to the letter."""

from __future__ import annotations

from collections.abc import Sequence

from runner.endpoint.suites.case import Case
from runner.endpoint.suites.extraction import exact
from runner.endpoint.suites.puzzles_numbers import puzzle_case

BITS = 8
BOOLEAN_ANSWER = "6,00101011"
PROGRAM = """\
const row = [5, 2, 8];
const seen = row.map((value, place) => {
  if (place < 2) row.push(value + place);
  row[2] -= place;
  return value * (place + 1);
});
console.log(seen.join(",") + "|" + row.join(","));"""
TRACE_ANSWER = "5,4,21|5,2,5,5,3"
WORD = "MERCANTILE"
ROTATE = 3
CIPHER_ANSWER = "RQMQLIkNxC"


def allowed(bits: Sequence[int]) -> bool:
    """Whether eight bits keep every rule of the puzzle."""
    first, second, third, fourth, fifth, sixth, seventh, eighth = bits
    return (
        sum(bits) == BITS // 2
        and first != third
        and (not second or fifth == 1)
        and fourth ^ sixth ^ seventh == 1
        and (not first or eighth == 1)
        and not (fifth and sixth)
        and (not seventh or second + third > 0)
    )


_BITS_TEXT = """\
Eight switches s1 to s8 are each 0 or 1. All of this holds:
- exactly four of them are 1;
- s1 and s3 differ;
- if s2 is 1, then s5 is 1;
- of s4, s6 and s7 an odd number is 1;
- if s1 is 1, then s8 is 1;
- s5 and s6 are not both 1;
- if s7 is 1, then at least one of s2 and s3 is 1.
How many settings are possible, and which of them is smallest when s1 s2 ... s8 is read as a binary number?
Write the count, a comma and the eight digits, as in 3,01100110."""
_TRACE_TEXT = f"What does this JavaScript program print?\n\n{PROGRAM}"
_CIPHER_TEXT = (
    f"Take the word {WORD}. First move its first {ROTATE} letters to the end, in the same order. Then "
    "reverse the whole. Then replace every A by a small x, every E by a capital Q and every T by a small "
    "k; all other letters stay capitals. Case matters, and so does the word FINAL in capitals before your "
    "answer."
)

LOGIC_CASES: tuple[Case, ...] = (
    puzzle_case(
        "boolean_constraints", "Eight switches", "logic", _BITS_TEXT, exact(BOOLEAN_ANSWER), BOOLEAN_ANSWER
    ),
    puzzle_case(
        "javascript_trace", "What a program prints", "code", _TRACE_TEXT, exact(TRACE_ANSWER), TRACE_ANSWER
    ),
    puzzle_case(
        "instruction_cipher",
        "A cipher, to the letter",
        "instruction",
        _CIPHER_TEXT,
        exact(CIPHER_ANSWER, keep_case=True, strictly=True),
        CIPHER_ANSWER,
    ),
)
