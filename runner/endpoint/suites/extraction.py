"""Extraction: the answer inside a model's text, however much talk and markup surrounds it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction

from runner.endpoint.suites.score import CaseScore, failed, invalid, passed

MARKER = "FINAL"
ASK_FOR_FINAL = f"Finish with a line of its own that reads {MARKER}: followed by the answer and nothing else."
MAX_TEXT = 400_000
"""Characters looked at, from the end: an answer stands last."""
_MARKED = re.compile(r"(?<![A-Za-z0-9])FINAL(?:[ \t]{1,3}ANSWER)?[*_`\" \t]{0,8}[:\uff1a]", re.IGNORECASE)
_MARKED_STRICTLY = re.compile(r"(?<![A-Za-z0-9])FINAL[ \t]{0,8}:")
_BOXED = re.compile(r"\\boxed\{([^{}\n]{1,200})\}|\\text\{([^{}\n]{1,200})\}")
_FENCE = re.compile(r"```[A-Za-z0-9_+-]*[ \t]*\n(.*?)```", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:[,_'\u2019]\d{3})+")
_END_OF_THOUGHT = "</think>"
_WRAPPING = " \t\r\n'\"`*_$\u201c\u201d\u2018\u2019"

Scorer = Callable[[str], CaseScore]


def spoken(text: str) -> str:
    """``text`` without thinking that a server left in the visible answer, cut to what is looked at."""
    return text.rpartition(_END_OF_THOUGHT)[2][-MAX_TEXT:]


def final_answer(text: str, *, strictly: bool = False) -> str:
    """What follows the last marker, else the last line with anything on it; empty where there is none.

    Args:
        strictly: only the marker in capitals counts, and there is nothing else to fall back on.
    """
    said = spoken(text)
    marks = list((_MARKED_STRICTLY if strictly else _MARKED).finditer(said))
    if marks:
        return _first_line(said[marks[-1].end() :])
    return "" if strictly else _first_line("\n".join(reversed(said.splitlines())))


def _first_line(text: str) -> str:
    for line in text.split("\n"):
        if line.strip(_WRAPPING):
            return line.strip()
    return ""


def normalised(answer: str, *, keep_case: bool = False) -> str:
    """``answer`` without markup, quotes, blanks and a last full stop; in lower case unless told otherwise."""
    text = unicodedata.normalize("NFKC", answer)
    text = _BOXED.sub(lambda match: match[1] or match[2], text)
    text = text.strip(_WRAPPING)
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1].strip(_WRAPPING)
    text = re.sub(r"\s+", "", text)
    return text if keep_case else text.lower()


def exact(expected: str, *, keep_case: bool = False, strictly: bool = False) -> Scorer:
    """A scorer that wants the final answer to be ``expected``, blanks and case aside."""
    wanted = normalised(expected, keep_case=keep_case)

    def score(text: str) -> CaseScore:
        """Compare the final answer as text."""
        answer = normalised(final_answer(text, strictly=strictly), keep_case=keep_case)
        if not answer:
            return invalid("no final answer was found", expected)
        return passed(answer, expected) if answer == wanted else failed(answer, expected)

    return score


def whole_number(expected: int) -> Scorer:
    """A scorer that wants the final answer to be one whole number; thousands may be set apart."""

    def score(text: str) -> CaseScore:
        """Compare the final answer as a whole number."""
        answer = normalised(final_answer(text))
        found = _as_number(answer)
        if found is None:
            return invalid("the final answer is no number", str(expected), answer)
        return passed(answer, str(expected)) if found == expected else failed(answer, str(expected))

    return score


def fraction(expected: Fraction) -> Scorer:
    """A scorer that wants ``numerator/denominator`` in lowest terms."""
    wanted = f"{expected.numerator}/{expected.denominator}"

    def score(text: str) -> CaseScore:
        """Compare the final answer as a fraction, without reducing it."""
        answer = _plain_fraction(normalised(final_answer(text)))
        if re.fullmatch(r"\d{1,40}/\d{1,40}", answer) is None:
            return invalid("the final answer is no fraction", wanted, answer)
        return passed(answer, wanted) if answer == wanted else failed(answer, wanted)

    return score


def _plain_fraction(answer: str) -> str:
    return re.sub(r"\\[dt]?frac\{(\d{1,40})\}\{(\d{1,40})\}", r"\1/\2", answer).replace("\u2044", "/")


def _as_number(answer: str) -> Fraction | None:
    """The one number that ``answer`` holds, whatever unit or equation is around it; else None."""
    if len(answer) > 200:
        return None
    text = answer.rpartition("=")[2].replace("\u2212", "-")
    text = _GROUPED.sub(lambda match: re.sub(r"[,_'\u2019]", "", match[0]), text)
    numbers = _NUMBER.findall(text)
    return Fraction(numbers[0]) if len(numbers) == 1 else None


def json_value(text: str) -> tuple[bool, object]:
    """Whether ``text`` holds one JSON document, bare or fenced, and the document.

    Constants that JSON does not have (``NaN``) and keys given twice are no JSON here.
    """
    said = spoken(text).strip()
    fenced = _FENCE.findall(said)
    for candidate in (said, *reversed(fenced)):
        try:
            return True, json.loads(
                candidate, parse_constant=_no_constant, object_pairs_hook=_once_each, parse_int=_bounded
            )
        except (ValueError, RecursionError):
            continue
    return False, None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        raise ValueError("a key is given twice")
    return whole


def _bounded(digits: str) -> int:
    if len(digits) > 40:
        raise ValueError("a number of unreasonable length")
    return int(digits)


def same_json(left: object, right: object) -> bool:
    """Whether two documents are equal; true is not 1, and the order of keys does not matter."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return left == right


def json_equal(expected: object) -> Scorer:
    """A scorer that wants the answer to be the JSON document ``expected``, bare or in a code fence."""
    wanted = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))

    def score(text: str) -> CaseScore:
        """Compare the answer as JSON, whatever the order of its keys."""
        found, value = json_value(text)
        if not found:
            return invalid("the answer is no JSON document", wanted, final_answer(text))
        answer = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        return passed(answer, wanted) if same_json(value, expected) else failed(answer, wanted)

    return score
