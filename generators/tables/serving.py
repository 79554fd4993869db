"""Serving: what each level of a throughput sweep costs, and what a task of a given shape would."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from runner.costs.hardware import HardwareRates, MissingRate, SplitRates, blended_rate, split_rates
from runner.records import Level, ThroughputRecord


@dataclass(frozen=True)
class TaskShape:
    """Tokens of one task; input counts every token read, from a cache or not."""

    input_tokens: int
    output_tokens: int


DEFAULT_SHAPE = TaskShape(8_000_000, 50_000)
"""An agent's task of the published sweeps: 160 tokens read for each one written."""


@dataclass(frozen=True)
class PricedLevel:
    """A level with its rates in US dollars per token.

    They are None where a throughput or the machine's price is unknown.
    """

    level: Level
    blended: float | None
    split: SplitRates | None

    def blended_cost(self, shape: TaskShape) -> float | None:
        """US dollars of a task: all its tokens at the blended rate."""
        if self.blended is None:
            return None
        return (shape.input_tokens + shape.output_tokens) * self.blended

    def split_cost(self, shape: TaskShape) -> float | None:
        """US dollars of a task: its tokens read and written, each at their own rate."""
        if self.split is None:
            return None
        return shape.input_tokens * self.split.input_usd + shape.output_tokens * self.split.output_usd


@dataclass(frozen=True)
class Economics:
    """One deployment at one commitment level. ``missing`` says why there are no dollars."""

    sweep: ThroughputRecord
    usd_per_hour: float | None
    missing: str
    levels: tuple[PricedLevel, ...]
    cheapest: PricedLevel | None
    """The lowest blended rate; of equal ones the lower concurrency."""
    fastest: PricedLevel | None
    """Most output tokens per second; of equal ones the lower concurrency."""
    price_day: date
    """Day of the machine prices behind its dollars."""
    same_as: tuple[str, ...] = ()
    """Other deployments whose levels hold the very same raw figures: one sweep under several names."""

    @property
    def name(self) -> str:
        """Name of the deployment."""
        return self.sweep.deployment.name


def economics(rates: HardwareRates) -> tuple[Economics, ...]:
    """Every swept deployment, by name."""
    sweeps = [sweep for name in rates.deployments() if (sweep := rates.sweep_of(name)) is not None]
    names: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for sweep in sweeps:
        names[raw_figures(sweep)].append(sweep.deployment.name)
    return tuple(
        replace(
            deployment_economics(sweep, rates),
            same_as=tuple(name for name in names[raw_figures(sweep)] if name != sweep.deployment.name),
        )
        for sweep in sweeps
    )


def distinct(swept: Sequence[Economics]) -> int:
    """How many different sweeps stand behind these deployments."""
    return len({raw_figures(each.sweep) for each in swept})


def raw_figures(sweep: ThroughputRecord) -> tuple[object, ...]:
    """What was measured at each level, on which machine; equal only where it is the same measurement."""
    machine = sweep.deployment
    levels = sorted(sweep.levels, key=lambda level: level.concurrency)
    measured = tuple(
        (
            level.concurrency,
            level.prompt_tokens_per_second,
            level.output_tokens_per_second,
            level.ttft_ms_mean,
            level.tpot_ms_mean,
        )
        for level in levels
    )
    told = any(value is not None for level in measured for value in level[1:])
    return (machine.instance_type, machine.instance_share, measured) if told else (machine.name,)


def deployment_economics(sweep: ThroughputRecord, rates: HardwareRates) -> Economics:
    """One deployment: ``usd_per_hour`` is its share of the machine at the commitment of ``rates``."""
    hourly, rate = rates.hourly_of(sweep.deployment), rates.rate_of_sweep(sweep)
    usd_per_hour = None if isinstance(hourly, MissingRate) else hourly
    levels = tuple(
        _priced(level, usd_per_hour) for level in sorted(sweep.levels, key=lambda level: level.concurrency)
    )
    best = None if isinstance(rate, MissingRate) else rate.level
    known = [level for level in levels if level.level.output_tokens_per_second is not None]
    return Economics(
        sweep=sweep,
        usd_per_hour=usd_per_hour,
        missing=rate.reason if isinstance(rate, MissingRate) else "",
        levels=levels,
        cheapest=next((each for each in levels if each.level is best), None),
        fastest=max(known, key=lambda each: each.level.output_tokens_per_second or 0.0, default=None),
        price_day=rates.prices.as_of,
    )


def _priced(level: Level, hourly: float | None) -> PricedLevel:
    prompt, output = level.prompt_tokens_per_second, level.output_tokens_per_second
    if hourly is None or prompt is None or output is None or prompt + output <= 0:
        return PricedLevel(level, None, None)
    return PricedLevel(level, blended_rate(hourly, prompt, output), split_rates(hourly, prompt, output))
