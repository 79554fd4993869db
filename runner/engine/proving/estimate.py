"""Estimate: what scorings can cost at most, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator

from runner.engine.judging.settings import JudgeSettings
from runner.engine.proving.docket import Docket
from runner.judges.direct import OUTPUT_TOKENS
from runner.judges.hearing import ANSWERS
from runner.judges.rubric import Rubric

CHARACTERS_PER_TOKEN = 2
"""Fewer than texts of this kind have, hidden characters included: it is for a ceiling."""
MILLION = 1_000_000


def estimate(
    settings: JudgeSettings, docket: Docket, rubric: Rubric, *, free: bool, agentic: bool
) -> Iterator[str]:
    """Lines on the number of questions and their cost.

    Args:
        free: the answers are scripted.
        agentic: the judge reads by itself, so that nobody can tell how much.
    """
    if not docket.entries:
        return
    first = docket.prompt_characters(rubric)
    answer = settings.max_output_tokens or OUTPUT_TOKENS
    yield (
        f"{len(docket.entries)} questions of {first / len(docket.entries):,.0f} characters on average, "
        f"each asked again at most {ANSWERS - 1} times where an answer is not valid"
    )
    if free:
        yield "cost: none, the answers are scripted"
        return
    if agentic:
        yield "cost: no ceiling can be told for a judge that reads the repository; try --count 2 first"
        return
    prices = settings.prices()
    if prices is None:
        yield "cost: unknown without prices; --price-input and --price-output give a ceiling"
        return
    # A question that is put again holds the last answer too, cut at a fixed length.
    asked = ANSWERS * first + (ANSWERS - 1) * len(docket.entries) * answer * CHARACTERS_PER_TOKEN
    tokens = asked / CHARACTERS_PER_TOKEN
    answered = ANSWERS * len(docket.entries) * answer
    ceiling = (tokens * prices.input + answered * prices.output) / MILLION
    likely = (first / 3.5 * prices.input + len(docket.entries) * 600 * prices.output) / MILLION
    yield (
        f"cost: at most ${ceiling:,.2f}, if every question is asked {ANSWERS} times and answered with "
        f"{answer:,} tokens; about ${likely:,.2f} if each is answered at once with 600"
    )
