"""Decide caveats: what weakens every answer of a board, whatever is asked: its repositories and its judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generators.escape.html import Json
from generators.pages import links, words
from generators.pages.judge import judge_page
from generators.pages.world import World
from generators.statistics.verdict import Kind
from generators.tables.choices import Choices
from generators.tables.judge_card import JudgeCard

Sentence = list[Json]


def caveats(
    world: World, choices: Choices, repositories: Mapping[str, str], page: str
) -> tuple[Sentence, ...]:
    """Sentences for the reader who is about to choose by a board, as seen from ``page``."""
    return (*_repositories(choices, repositories), *_judge(world, choices, page))


def _repositories(choices: Choices, repositories: Mapping[str, str]) -> Iterator[Sentence]:
    """That all tasks are of one repository, where that is known."""
    tasks = choices.board.tasks
    if tasks and len({repositories.get(task) for task in tasks} - {None}) == 1:
        every = "The only task is" if len(tasks) == 1 else f"All {len(tasks)} tasks are"
        yield [f"{every} of one repository: how far yours would differ is unknown."]


def _judge(world: World, choices: Choices, page: str) -> Iterator[Sentence]:
    """Who gave the scores, and how far that judge was tried."""
    if choices.kind is not Kind.SCORE:
        return
    found = {each.cell.yardstick for each in choices.candidates if each.cell.has_scores}
    for card in world.judge_cards:
        if card.yardstick in found:
            name = card.yardstick.model or card.yardstick.judge
            href = links.relative(page, judge_page(card.yardstick, world.prefix))
            yield ["Scores are those of one judge, ", [name, href], f": {_tried(card)}."]


def _tried(card: JudgeCard) -> str:
    """How far a judge's scores hold, in the two figures that matter most."""
    if card.repeats is None and card.area is None:
        return "never asked twice about the same work nor held against tests, so how far it errs is unknown"
    again = "never asked twice about the same work"
    if card.repeats is not None:
        again = f"asked again, its scores of the same work spread by {card.repeats.within_sd:.1f} points"
    tests = "never held against tests"
    if card.area is not None:
        tests = f"work that passes its tests scores higher in {words.percent(card.area.estimate)} of pairs"
    return f"{again}; {tests}"
