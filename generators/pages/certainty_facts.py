"""Certainty facts: what the intervals of a cell's means do not say: one dear task, one repository, chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generators.pages import words
from generators.pages.interval_words import span
from generators.pages.table import Entry
from generators.pages.world import World
from generators.statistics.clusters import Clustered
from generators.statistics.repeats import LEAST_TRIALS, TRIAL_SHARE, OverTasks
from generators.tables.cells import Cell
from generators.tables.certainty import Amount, Certainty, certainty, reliability
from generators.tables.sample import Unit

Facts = list[tuple[str, Entry]]


def certainty_facts(world: World, cell: Cell) -> Facts:
    """What stands below "How sure these means are", in its order."""
    repositories: Mapping[str, str] | None = world.repositories.get(cell.identity.dataset)
    found = certainty(cell, repositories)
    rests_on = words.priced(cell.figures["cost_per_task"].priced)
    return [
        *_clusters(found.clustered),
        *_amount("Cost", "dearest", found.cost, Unit.DOLLARS, rests_on),
        *_amount("Minutes", "longest", found.minutes, Unit.MINUTES, ""),
        *_split(found, cell),
        *_repeats(cell),
    ]


def _clusters(found: Clustered | None) -> Iterator[tuple[str, Entry]]:
    """The mean score with its tasks taken by repository."""
    if found is None:
        return
    ends, note = span(found.interval, Unit.POINTS), found.note
    if ends:
        effect = "" if found.design_effect is None else f"; design effect {found.design_effect:.1f}"
        note = f"mean score with tasks of a repository taken together, {ends}{effect}"
    yield "Repositories of the scored tasks", Entry(f"{found.clusters}", note=note)


def _amount(title: str, most: str, found: Amount, unit: Unit, rests_on: str) -> Iterator[tuple[str, Entry]]:
    """Median and concentration: one task can be the bill."""
    middle = found.median
    if middle is None:
        return
    sure = span(middle, unit) or f"no interval: {middle.count} of the 6 tasks that it takes"
    note = "; ".join(part for part in ("median", sure, rests_on) if part)
    yield f"{title} of the middle task", Entry(words.amount(middle.estimate, unit), note=note)
    if found.concentration is not None and middle.count > 1:
        note = f"of all, over {middle.count} tasks; 10 % if they were alike"
        yield f"{title} in the {most} tenth of tasks", Entry(words.percent(found.concentration), note=note)


def _split(found: Certainty, cell: Cell) -> Iterator[tuple[str, Entry]]:
    """Where the spread of scores comes from: tasks or chance between trials."""
    if not cell.has_scores:
        return
    name = "Chance between trials of one task"
    share = found.split.trial_share if found.split is not None else None
    if found.split is None or share is None:
        why = "no two tasks were tried twice" if found.split is None else "no score varies"
        yield name, Entry("not known", note=why, unknown=True)
        return
    limit = words.percent(TRIAL_SHARE)
    advice = f"below {limit}: more tasks tell more than more trials"
    if found.split.more_trials:
        advice = f"above {limit}: at least {LEAST_TRIALS} trials of each task are asked for"
    note = f"of the variance of scores, the rest lies between tasks; {advice}"
    yield name, Entry(words.percent(share), note=note)


def _repeats(cell: Cell) -> Iterator[tuple[str, Entry]]:
    """pass@k and pass^k for the most trials that at least two graded tasks have."""
    graded = (sum(trial.resolved is not None for trial in trials) for trials in cell.by_task.values())
    counts = sorted(graded, reverse=True)
    k = counts[1] if len(counts) > 1 else 0
    if k < 2:
        return
    any_of, all_of = reliability(cell, k)
    yield f"Resolved by at least one of {k} trials", _rate(any_of, f"pass@{k}")
    yield f"Resolved by all of {k} trials", _rate(all_of, f"pass^{k}: what a team can rely on")


def _rate(rate: OverTasks, name: str) -> Entry:
    if rate.mean is None:
        return Entry("not known", note=name, unknown=True)
    return Entry(f"{words.percent(rate.mean)} ({rate.n} of {rate.m})", note=f"{name}; mean over tasks")
