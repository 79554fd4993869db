"""Streaming: outputs and inputs of known length, to measure speed with an answer that can be checked."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from runner.endpoint.suites.case import Case, Kind, Puzzle, question
from runner.endpoint.suites.draw import Draw
from runner.endpoint.suites.extraction import Scorer, exact, spoken
from runner.endpoint.suites.score import CaseScore, failed, invalid, passed

MARKER = "COUNT:"
TOKENS_PER_NUMBER = 6
"""A number and its blank take up to five tokens where digits are tokens of their own."""
LEAST_OUTPUT = 256
WORDS = tuple(
    f"{first}{last}"
    for first in ("bar", "can", "dra", "fab", "ham")
    for last in ("den", "gle", "ket", "low", "mer")
)


def output_cap(length: int) -> int:
    """Tokens that ``length`` numbers cannot exceed with any common tokenizer, and some for a preface."""
    return max(LEAST_OUTPUT, ceil(TOKENS_PER_NUMBER * length) + 64)


def counted(length: int) -> Scorer:
    """A scorer that wants the marker, then the numbers 1 to ``length`` with blanks between them."""
    expected = " ".join(str(number) for number in range(1, length + 1))
    said = f"1 to {length}"

    def score(text: str) -> CaseScore:
        """Count the numbers that are right before the first that is not."""
        head, mark, tail = spoken(text).rpartition(MARKER)
        if not mark:
            return invalid("the marker is missing", said, text[-80:])
        found = tail.strip(" \t\r\n`*.").split()
        right = 0
        for number in found:
            if number != str(right + 1):
                break
            right += 1
        metrics = {"numbers_right": float(right), "preface_characters": float(len(head.strip(" \t\r\n`*")))}
        if " ".join(found) == expected:
            return passed(said, said, metrics)
        return failed(f"right up to {right}", said, f"right up to {right} of {length}", metrics)

    return score


def fixed_output(length: int) -> Callable[[int], Puzzle]:
    """Instances that ask for ``length`` numbers."""

    def make(seed: int) -> Puzzle:
        """The instance that belongs to a seed, which stands in its text."""
        text = (
            f"Job {seed}. Count from 1 to {length}. Write a single line that starts with {MARKER} and then "
            "holds every whole number in order, as digits, with one blank between neighbours. Leave none "
            "out, add no comment before or after, and do not shorten the line."
        )
        return question(text, counted(length), f"1 to {length}", {"length": length})

    return make


def fixed_input(words: int) -> Callable[[int], Puzzle]:
    """Instances that send ``words`` words, different in each trial, and ask for one token back."""

    def make(seed: int) -> Puzzle:
        """The instance that belongs to a seed, with padding of its own."""
        draw = Draw(seed)
        password = f"{draw.choice(WORDS)}-{draw.integer(1000, 9999)}"
        filler = " ".join(draw.choice(WORDS) for _ in range(words))
        text = (
            f"What follows is padding that means nothing.\n{filler}\n\nThe padding ends here. Answer with "
            f"this password and nothing else: {password}"
        )
        return question(text, exact(password), password, {"words": words})

    return make


def _output_case(identifier: str, length: int, runs: int) -> Case:
    return Case(
        identifier=identifier,
        title=f"Count to {length}",
        kind=Kind.PERFORMANCE,
        category="streaming",
        dimension="decode",
        description="An output of known length: speed of generation, gaps and buffering.",
        make=fixed_output(length),
        max_output_tokens=output_cap(length),
        effort="none",
        seeded=True,
        parameters={"output_length": length},
        runs=runs,
        warm_ups=1,
    )


def _input_case(words: int) -> Case:
    return Case(
        identifier=f"input_length_{words}",
        title=f"Read {words} words",
        kind=Kind.PERFORMANCE,
        category="prefill",
        dimension="prefill",
        description="A long input, a short output: time to the first token. No two trials send the same.",
        make=fixed_input(words),
        runs=3,
        warm_ups=1,
        max_output_tokens=128,
        effort="none",
        seeded=True,
        parameters={"input_words": words},
    )


def _level_case(level: int) -> Case:
    length = 64
    return Case(
        identifier=f"concurrency_{level}",
        title=f"{level} at once",
        kind=Kind.PERFORMANCE,
        category="load",
        dimension="concurrency",
        description="A closed loop with so many requests in flight: throughput and what it does to latency.",
        make=fixed_output(length),
        runs=max(20, 4 * level),
        warm_ups=level,
        concurrency=level,
        max_output_tokens=output_cap(length),
        effort="none",
        seeded=True,
        parameters={"output_length": length, "concurrency": level},
    )


FIXED_OUTPUT = _output_case("fixed_output_stream", 100, runs=5)
OUTPUT_CASES = (
    _output_case("output_length_32", 32, runs=10),
    _output_case("output_length_256", 256, runs=10),
    _output_case("output_length_1024", 1024, runs=5),
)
INPUT_CASES = tuple(_input_case(words) for words in (1000, 8000, 32_000))
LEVEL_CASES = tuple(_level_case(level) for level in (1, 2, 4, 8, 16))
