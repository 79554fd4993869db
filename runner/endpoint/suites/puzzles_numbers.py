"""Number puzzles: modular arithmetic, recurrences, a determinant and counting, each with one right answer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from runner.endpoint.suites.case import Case, Kind, Puzzle, question
from runner.endpoint.suites.extraction import ASK_FOR_FINAL, Scorer, fraction, whole_number

QUALITY_TOKENS = 4096

POWER = (53, 20_221, 999_983)
REMAINDERS = {31: 19, 37: 8, 43: 25}
RECURRENCE_START = (2, 1, 3)
RECURRENCE_FACTORS = (1, 4, 3)
RECURRENCE_TERM = 75
RECURRENCE_MODULUS = 1_000_033
STRING_LENGTH = 13
STRING_QS = 5
MATRIX = ((4, -1, 3, 2), (7, 5, -2, 7), (6, 1, 1, -3), (2, 8, -4, 5))
URN = {"copper": 9, "silver": 5}
DRAWN = 6
DRAWN_COPPER = 3

_ANSWERS = {
    "number_theory_powmod": 22_532,
    "number_theory_crt": 6002,
    "recurrence": 774_044,
    "constrained_strings": 4144,
    "determinant": 724,
}
HYPERGEOMETRIC = Fraction(40, 143)


def puzzle_case(identifier: str, title: str, category: str, text: str, scorer: Scorer, expected: str) -> Case:
    """A case with a single instance."""

    def make(_seed: int) -> Puzzle:
        """The instance; it is the same for every seed."""
        return question(f"{text}\n\n{ASK_FOR_FINAL}", scorer, expected)

    return Case(
        identifier=identifier,
        title=title,
        kind=Kind.QUALITY,
        category=category,
        dimension="problem-solving",
        difficulty="hard",
        description=f"A puzzle with one right answer ({category}).",
        make=make,
        max_output_tokens=QUALITY_TOKENS,
        effort="none",
    )


def number_case(identifier: str, title: str, category: str, text: str, expected: int) -> Case:
    """A case whose answer is a whole number."""
    return puzzle_case(identifier, title, category, text, whole_number(expected), str(expected))


def _number(identifier: str, title: str, category: str, text: Callable[[], str]) -> Case:
    return number_case(identifier, title, category, text(), _ANSWERS[identifier])


def _power() -> str:
    base, exponent, modulus = POWER
    return f"Raise {base} to the power {exponent} and divide by {modulus}. What is the remainder?"


def _remainders() -> str:
    parts = ", ".join(f"{rest} when divided by {divisor}" for divisor, rest in REMAINDERS.items())
    return f"A positive whole number leaves the remainder {parts}. What is the smallest such number?"


def _recurrence() -> str:
    first, second, third = RECURRENCE_FACTORS
    starts = ", ".join(f"t({place}) = {value}" for place, value in enumerate(RECURRENCE_START))
    return (
        f"A sequence begins with {starts}. From then on t(n) = {first} * t(n-1) + {second} * t(n-2) + "
        f"{third} * t(n-3). What is the remainder of t({RECURRENCE_TERM}) divided by {RECURRENCE_MODULUS}?"
    )


def _strings() -> str:
    return (
        f"How many words of {STRING_LENGTH} letters can be written with P, Q and R if exactly {STRING_QS} "
        "of the letters are Q and no letter stands next to a copy of itself?"
    )


def _determinant() -> str:
    rows = "\n".join(" ".join(f"{value:3d}" for value in row) for row in MATRIX)
    return f"What is the determinant of this matrix?\n{rows}"


def _urn() -> str:
    return (
        f"A box holds {URN['copper']} copper and {URN['silver']} silver coins. {DRAWN} coins are taken out "
        f"at once, blindly. How likely is it that exactly {DRAWN_COPPER} of them are copper? Give a "
        "fraction in lowest terms."
    )


NUMBER_CASES = (
    _number("number_theory_powmod", "Remainder of a power", "math", _power),
    _number("number_theory_crt", "Three remainders", "math", _remainders),
    _number("constrained_strings", "Words without doubled letters", "combinatorics", _strings),
    _number("recurrence", "A late term of a sequence", "math", _recurrence),
    puzzle_case(
        "hypergeometric",
        "Coins from a box",
        "probability",
        _urn(),
        fraction(HYPERGEOMETRIC),
        f"{HYPERGEOMETRIC.numerator}/{HYPERGEOMETRIC.denominator}",
    ),
    _number("determinant", "A determinant", "math", _determinant),
)
