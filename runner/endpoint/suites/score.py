"""Score: what became of one answer, as a class, a value and a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Verdict(StrEnum):
    """The class of an answer. Exactly one holds; timing is kept whatever it is."""

    PASSED = "passed"
    FAILED = "failed"
    """An answer of the right form that is wrong."""
    INVALID_FORMAT = "invalid_format"
    """Nothing in the asked form could be found in the answer."""
    TRUNCATED = "truncated"
    """Cut by the token limit, or the stream closed without saying that it was finished."""
    REFUSED = "refused"
    """The model or a filter declined to answer."""
    ERROR = "error"
    """No whole answer arrived."""
    SKIPPED = "skipped"
    """Never asked; the reason says why."""


@dataclass(frozen=True)
class CaseScore:
    """One scored trial.

    ``value`` is 0 to 1, and None where no answer could be scored. ``answer`` is what was compared, in its
    normalised form; it came from a model and is cut to a bounded length.
    """

    verdict: Verdict
    value: float | None
    reason: str = ""
    answer: str | None = None
    expected: str | None = None
    confidence: float | None = None
    """The probability that the model itself gave to being right."""
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.verdict is Verdict.PASSED


MAX_SHOWN = 300
NOTHING: Mapping[str, float] = MappingProxyType({})


def shown(text: str) -> str:
    """``text`` cut to the length that records keep."""
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def passed(answer: str, expected: str, metrics: Mapping[str, float] = NOTHING) -> CaseScore:
    """The right answer."""
    return CaseScore(Verdict.PASSED, 1.0, "", shown(answer), shown(expected), metrics=metrics)


def failed(answer: str, expected: str, reason: str = "", metrics: Mapping[str, float] = NOTHING) -> CaseScore:
    """A wrong answer."""
    said = reason or f"expected {shown(expected)}, got {shown(answer)}"
    return CaseScore(Verdict.FAILED, 0.0, said, shown(answer), shown(expected), metrics=metrics)


def invalid(
    reason: str, expected: str, answer: str = "", metrics: Mapping[str, float] = NOTHING
) -> CaseScore:
    """An answer without what was asked for in it."""
    found = shown(answer) if answer else None
    return CaseScore(Verdict.INVALID_FORMAT, 0.0, reason, found, shown(expected), metrics=metrics)


def skipped(reason: str) -> CaseScore:
    """A case that a target was never asked."""
    return CaseScore(Verdict.SKIPPED, None, reason)
