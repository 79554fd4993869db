"""Decide data: the choices of a board as the file from which a reader's browser decides."""

from __future__ import annotations

import json
import shlex
from math import sqrt

from generators.escape.html import Json
from generators.pages import decide_caveats, decide_figures, links, words
from generators.pages.charting import label
from generators.pages.decide_dictionary import PAIR_COLUMNS
from generators.pages.decide_figures import Told
from generators.pages.interval_words import sureness
from generators.pages.money_flag import flag_of
from generators.pages.world import World
from generators.statistics.planner import FEWEST_TASKS, MOST_TASKS, SMALL, detectable_difference
from generators.statistics.verdict import Verdict, Word
from generators.tables.boards import Board
from generators.tables.cells import Cell
from generators.tables.choices import Candidate, Versus, board_choices
from generators.tables.sample import Unit
from runner.records import Hosting

SCHEMA = "decide/1"


def told(world: World, board: Board, page: str) -> Told:
    """The choices of a board, named and linked as seen from ``page``."""
    described = world.datasets.get(board.dataset)
    repositories = {task.id: task.repo for task in described.tasks} if described is not None else None
    choices = board_choices(board, repositories)
    flags = [flag_of(world, each.cell, page) for each in choices.candidates]
    return Told(
        choices=choices,
        names=_names([each.cell for each in choices.candidates]),
        hrefs=[links.relative(page, world.cell_page(each.cell)) for each in choices.candidates],
        flags=[(flag.text, flag.href) if flag is not None else None for flag in flags],
        commands=[command(each.cell) for each in choices.candidates],
        caveats=decide_caveats.caveats(world, choices, repositories or {}, page),
    )


def command(cell: Cell) -> str:
    """The command that runs more tasks of a cell; what the reader must fill in stands in capitals."""
    identity = cell.identity
    flags = {
        "--dataset": identity.dataset,
        "--skill": identity.skill,
        "--harness": identity.harness,
        "--provider": identity.provider,
        "--model": cell.raw_ids[0] if cell.raw_ids else identity.model.raw_id,
        **({"--effort": identity.effort} if identity.effort else {}),
        **({"--endpoint": "URL"} if identity.provider == "endpoint" else {}),
        "--tasks": "NEW_TASKS",
    }
    return "invoke run " + " ".join(f"{name} {shlex.quote(value)}" for name, value in flags.items())


def content(named: Told, skill: str) -> bytes:
    """The file itself."""
    choices = named.choices
    texts: dict[str, int] = {}
    pairs = [_pair(each, texts) for each in choices.pairs]
    found: dict[str, Json] = {
        "schema": SCHEMA,
        "skill": skill,
        "dataset": choices.board.dataset,
        "measure": choices.kind.value,
        "set_apart": len(choices.board.set_apart),
        "fewest_tasks": FEWEST_TASKS,
        "most_tasks": MOST_TASKS,
        # What a spread of 1 shows with 80 % power at 6, 7, ... 29 tasks; beyond, the factor over the root.
        "reach": [detectable_difference(1.0, count) for count in range(FEWEST_TASKS, SMALL)],
        "reach_factor": (detectable_difference(1.0, SMALL) or 0.0) * sqrt(SMALL),
        "undecided": Word.NOT_ENOUGH.value,
        "hosting": {kind.value: words.hosting(kind) for kind in Hosting},
        "cells": [_cell(named, at) for at in range(len(choices.candidates))],
        "pair_columns": list(PAIR_COLUMNS),
        "pairs": pairs,
        "texts": list(texts),
        "caveats": [list(each) for each in named.caveats],
    }
    return (json.dumps(found, allow_nan=False, separators=(",", ":")) + "\n").encode()


def _cell(named: Told, at: int) -> Json:
    candidate = named.of(at)
    quality, minutes = candidate.quality, candidate.minutes
    flag = named.flags[at]
    return {
        "name": named.names[at],
        "href": named.hrefs[at],
        "provider": candidate.cell.identity.provider,
        "harness": candidate.harness,
        "hosting": candidate.hosting,
        "basis": candidate.basis,
        "command": named.commands[at],
        "flag": list(flag) if flag is not None else None,
        "quality": {
            "amount": quality.amount,
            "centre": quality.centre,
            "error": quality.error,
            "tasks": quality.tasks,
            "lower": quality.lower,
            "upper": quality.upper,
            "worst": quality.worst,
            "best": quality.best,
            "open": quality.open,
            "failed": quality.failed,
            "passed": quality.passed,
        },
        "cost": candidate.cost.amount,
        "cost_n": candidate.cost.n,
        "cost_m": candidate.cost.m,
        "minutes": minutes.amount,
        "minutes_n": minutes.n,
        "minutes_m": minutes.m,
        "membership": candidate.membership,
        "membership_across": candidate.across,
        "text": _texts(named, at, candidate),
    }


def _texts(named: Told, at: int, candidate: Candidate) -> Json:
    """What the page says of a cell whatever is asked."""
    minutes = candidate.minutes
    took = words.amount(minutes.amount, Unit.MINUTES) if minutes.amount is not None else "not known"
    return {
        "score": decide_figures.score(named, at),
        "spread": decide_figures.spread(named, at),
        "cost": decide_figures.cost(named, at),
        "priced": words.priced(candidate.cost.priced),
        "minutes": took,
        "cost_note": decide_figures.cost_note(candidate),
        "minutes_count": words.n_of_m(minutes),
        "minutes_sure": sureness(minutes, Unit.MINUTES),
        "minutes_note": decide_figures.minutes_note(candidate),
        "membership": decide_figures.membership(candidate),
        "across": decide_figures.across(named, candidate),
        "among": decide_figures.among(candidate),
    }


def _pair(pair: Versus, texts: dict[str, int]) -> Json:
    def place(text: str) -> int:
        """The number of a text in the list; a new text is added to it."""
        return texts.setdefault(text, len(texts))

    found = pair.verdict
    cost_number = place(pair.cost.number) if pair.cost is not None else None
    if found is None:
        unknown = [None] * (len(PAIR_COLUMNS) - 6)
        return [pair.first, pair.second, *unknown, pair.costs_less, cost_number, place(pair.reason), None]
    interval = found.evidence.interval
    return [
        pair.first,
        pair.second,
        place(found.word.value),
        _favoured(pair, found),
        place(found.deciding.value),
        found.deciding_number,
        found.limit,
        found.evidence.tasks,
        interval.estimate if interval is not None else None,
        interval.lower if interval is not None else None,
        interval.upper if interval is not None else None,
        found.evidence.p_value,
        found.plan.more if found.plan is not None else None,
        pair.least,
        pair.trials.more,
        place(pair.trials.reason),
        pair.costs_less,
        cost_number,
        place(found.explanation),
        place(found.what_would_decide),
    ]


def _favoured(pair: Versus, found: Verdict) -> int | None:
    if found.favoured is None:
        return None
    return pair.first if found.favoured == "first" else pair.second


def _names(cells: list[Cell]) -> list[str]:
    """Model and harness; the provider too, where these two do not tell cells apart."""
    short = [label(cell, with_harness=True) for cell in cells]
    return [
        name if short.count(name) == 1 else f"{name} · {cell.identity.provider}"
        for name, cell in zip(short, cells, strict=True)
    ]
