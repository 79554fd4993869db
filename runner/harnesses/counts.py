"""Counts: token counts of single answers, added up without turning unknown into zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner.records import CacheSemantics, DataWarning, SemanticsDecision, Usage

NOT_A_CLASS = "not a class of this protocol: tokens written to a cache are part of its fresh input"

REASONING_NOT_REPORTED = "reasoning-not-reported"
CLASSES_NOT_TOLD = "usage-classes-not-told"


@dataclass(frozen=True)
class Counts:
    """Tokens of one answer or of many, in classes of which none overlap but the last. None is unknown."""

    fresh: int | None = None
    """Input that came from no cache and went to none."""
    output: int | None = None
    """Output with its reasoning."""
    read: int | None = None
    write: int | None = None
    reasoning: int | None = None

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            fresh=_plus(self.fresh, other.fresh),
            output=_plus(self.output, other.output),
            read=_plus(self.read, other.read),
            write=_plus(self.write, other.write),
            reasoning=_plus(self.reasoning, other.reasoning),
        )

    @property
    def all_zero(self) -> bool:
        """Whether nothing at all was counted, which for an answer that says something means: not reported."""
        return not any((self.fresh, self.output, self.read, self.write, self.reasoning))


ZERO = Counts(0, 0, 0, 0, 0)


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def total(counts: Iterable[Counts]) -> Counts:
    """The sum; a class that one of them does not know is unknown."""
    result = ZERO
    for each in counts:
        result = result + each
    return result


def totals(answers: Iterable[tuple[str, Counts]]) -> dict[str, Counts]:
    """The sums by model, of answers with the model of each; the model that answered first comes first."""
    found: dict[str, list[Counts]] = {}
    for model, counts in answers:
        found.setdefault(model, []).append(counts)
    return {model: total(each) for model, each in found.items()}


def usages(sums: Mapping[str, Counts], sources: Mapping[str, str]) -> dict[str, Usage]:
    """``sums`` as records; ``sources`` as for :func:`as_usage`."""
    return {model: as_usage(counts, sources) for model, counts in sums.items()}


def nothing_used(fields: Iterable[str]) -> Usage:
    """The record of a run that no answer was made for, for the fields that it can tell."""
    return as_usage(ZERO, dict.fromkeys(fields, "each request was turned away, or none was sent"))


def as_usage(counts: Counts, sources: Mapping[str, str]) -> Usage:
    """``counts`` as a record.

    Args:
        sources: for each field of :class:`Usage` the place it was read from; those of unknown counts are
            left out.
    """
    known = {
        "input_tokens": counts.fresh,
        "output_tokens": counts.output,
        "cache_read_tokens": counts.read,
        "cache_write_tokens": counts.write,
        "reasoning_tokens": counts.reasoning,
    }
    return Usage(
        **known,
        cache_semantics=CacheSemantics.DISJOINT,
        semantics_decided_by=SemanticsDecision.ADAPTER,
        sources={name: place for name, place in sources.items() if known.get(name) is not None},
    )


def not_reported(answers: int) -> DataWarning:
    """The warning that ``answers`` answers came without token counts, so that their sum is unknown."""
    return DataWarning(
        code="usage-not-reported",
        text=f"{answers} answers of the model came without token counts, so the sums are unknown",
    )


def reasoning_not_reported() -> DataWarning:
    """The warning that reasoning, which is part of the output, was not told apart from it."""
    return DataWarning(
        code=REASONING_NOT_REPORTED,
        text="how much of the output was reasoning was not told; the output includes it all the same",
    )


def gaps(answers: Sequence[Counts], lost: int = 0) -> Iterator[DataWarning]:
    """The warnings of what ``answers`` leave unknown, and of ``lost`` requests that broke off."""
    silent = sum(counts.all_zero for counts in answers)
    if silent:
        yield not_reported(silent)
    elif any(counts.reasoning is None for counts in answers):
        yield reasoning_not_reported()
    if lost:
        yield lower_bound(f"{lost} requests were broken off, perhaps with an answer under way")


def lower_bound(reason: str) -> DataWarning:
    """The warning that more was used than counted."""
    return DataWarning(code="usage-is-lower-bound", text=f"{reason}; more may have been used than counted")


def stopped_early() -> DataWarning:
    """The warning that the agent did not end by itself, so that the last answer may not be counted."""
    return lower_bound("the agent was stopped, perhaps with an answer under way")


def classes_not_told(harness: str) -> DataWarning:
    """The warning that two classes are unknown because ``harness`` leaves out what the server told."""
    return DataWarning(
        code=CLASSES_NOT_TOLD,
        text=f"{harness} tells neither tokens written to a cache, which are counted as fresh input, "
        "nor reasoning, which is part of the output",
    )
