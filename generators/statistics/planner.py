"""Planner: what differences the data could show, and how many more tasks or trials would decide."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import special

from generators.statistics.repeats import VarianceSplit

POWER = 0.8
SIGNIFICANCE = 0.05
SMALL = 30
"""Below this many tasks t quantiles take the place of normal ones."""
MOST_TASKS = 10_000
MOST_TRIALS = 100
FEWEST_TASKS = 6
"""With fewer no two-sided paired test can fall below 0.05."""


def detectable_difference(
    spread: float, tasks: int, *, power: float = POWER, significance: float = SIGNIFICANCE
) -> float | None:
    """Smallest true difference that ``tasks`` would show with the given power.

    (z(1 - a/2) + z(power)) sd(d) / sqrt(n), with t quantiles of n - 1 degrees below n = 30 (Cohen 1988;
    arXiv 2411.00640).

    Args:
        spread: standard deviation of the paired differences over tasks, in the unit of the answer.
        tasks: common tasks.

    Returns:
        None with fewer than two tasks.
    """
    if tasks < 2:
        return None
    return _quantiles(tasks, power, significance) * spread / math.sqrt(tasks)


@dataclass(frozen=True)
class Plan:
    """What a next run would need. Unknown is None, and ``reason`` says why."""

    more: int | None
    """Tasks to add for both cells, or trials to add to each task."""
    cost_usd: float | None
    reason: str = ""


def plan_tasks(
    difference: float,
    spread: float,
    tasks: int,
    *,
    cost_per_task: float | None = None,
    power: float = POWER,
    significance: float = SIGNIFICANCE,
) -> Plan:
    """Tasks to add until a true difference of this size would be shown with the given power.

    The smallest n with ``detectable_difference(spread, n) <= |difference|``, at least six.

    Args:
        difference: the difference that is thought to be true, such as the one observed.
        spread: standard deviation of the paired differences over tasks.
        tasks: common tasks that there are.
        cost_per_task: what one more task costs for both cells together, from the data; None if unknown.
    """
    if difference == 0:
        return Plan(None, None, "no number of tasks separates two cells without a difference")

    def reach(count: int) -> float:
        """The smallest difference that so many tasks show with the wanted power."""
        return _quantiles(count, power, significance) * spread / math.sqrt(count)

    return _fewest(reach, abs(difference), tasks, cost_per_task)


def plan_equivalence(
    difference: float,
    spread: float,
    tasks: int,
    margin: float,
    *,
    cost_per_task: float | None = None,
    significance: float = SIGNIFICANCE,
) -> Plan:
    """Tasks to add until the interval of the difference lies within the margin, if the difference stays.

    The smallest n, at least six, with |d| + t sd / sqrt(n) <= margin.
    """
    room = margin - abs(difference)
    if room <= 0:
        return Plan(None, None, "the difference seen is larger than the margin")

    def reach(count: int) -> float:
        """Half the width of the interval of the mean difference of so many tasks."""
        return float(special.stdtrit(count - 1, 1 - significance / 2)) * spread / math.sqrt(count)

    return _fewest(reach, room, tasks, cost_per_task)


def plan_trials(
    difference: float,
    split: VarianceSplit | None,
    tasks: int,
    trials: int,
    *,
    cost_per_trial: float | None = None,
    power: float = POWER,
    significance: float = SIGNIFICANCE,
) -> Plan:
    """Trials to add to each of the tasks there are, until the difference would be shown.

    Trials lessen only the chance between trials: the smallest k with
    quantiles x sqrt(between / n + within / (n k)) <= |difference| (arXiv 2411.00640).

    Args:
        difference: the difference that is thought to be true.
        split: of the paired differences, trial by trial; None where each task was tried once.
        tasks: common tasks.
        trials: trials of each task that there are.
        cost_per_trial: what one more trial of one task costs for both cells; None if unknown.
    """
    if split is None:
        return Plan(None, None, "with one trial a task, chance between trials is unknown")
    if tasks < FEWEST_TASKS:
        return Plan(
            None, None, f"fewer than {FEWEST_TASKS} tasks decide nothing, however often they are tried"
        )
    factor = _quantiles(tasks, power, significance)
    if factor * math.sqrt(split.between_tasks / tasks) > abs(difference):
        return Plan(None, None, "the tasks differ too much: more trials of the same ones would not")
    for count in range(max(1, trials), MOST_TRIALS + 1):
        if factor * split.error_of_mean(tasks, count) <= abs(difference):
            return _priced(count - trials, tasks, cost_per_trial)
    return Plan(None, None, f"not even {MOST_TRIALS} trials a task would")


def _fewest(reach: Callable[[int], float], room: float, tasks: int, price: float | None) -> Plan:
    """Tasks to add until ``reach``, which falls with the number of tasks, is at most ``room``."""
    if reach(MOST_TASKS) > room:
        return Plan(None, None, f"not even {MOST_TASKS:,} tasks would")
    low, high = FEWEST_TASKS, MOST_TASKS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reach(middle) <= room else (middle + 1, high)
    return _priced(max(0, low - tasks), 1, price)


def _quantiles(tasks: int, power: float, significance: float) -> float:
    if tasks < SMALL:
        degrees = tasks - 1
        upper = float(special.stdtrit(degrees, 1 - significance / 2))
        return upper + float(special.stdtrit(degrees, power))
    return float(special.ndtri(1 - significance / 2)) + float(special.ndtri(power))


def _priced(more: int, runs_each: int, price: float | None) -> Plan:
    if more == 0:
        return Plan(0, 0.0)
    if price is None:
        return Plan(more, None, "what a task costs is unknown for one of the two")
    return Plan(more, more * runs_each * price)
