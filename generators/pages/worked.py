"""Worked numbers: formulas filled in with figures of real cells, computed by the code that the pages use."""

from __future__ import annotations

from dataclasses import dataclass

from generators.pages import links, words
from generators.pages.charting import label
from generators.pages.interval_words import sureness
from generators.pages.table import Column, Entry, Table, link_entry, table
from generators.pages.world import World
from generators.tables.boards import Board
from generators.tables.cells import Cell
from generators.tables.facts import TrialFacts
from generators.tables.figures import FIGURES
from generators.tables.sample import Unit, Value
from runner.costs.hardware import HardwareRate, wall_clock_cost
from runner.records import CacheSemantics, CostBasis


@dataclass(frozen=True)
class WorkedRate:
    """The hardware-derived cost of one cell, step by step; every number is written as text."""

    name: str
    href: str
    dollars_per_hour: str
    prompt_rate: str
    output_rate: str
    total_rate: str
    concurrency: int
    per_token: str
    tokens: str
    machine_seconds: str
    cost: str
    minutes: str
    wall_clock: str


@dataclass(frozen=True)
class Definition:
    """One figure as the methodology page explains it."""

    name: str
    title: str
    unit: str
    formula: str
    meaning: str
    example: str


def worked_rate(world: World, board: Board | None, page: str) -> WorkedRate | None:
    """The best-scoring hardware-derived cell of the front board with known tokens, priced step by step."""
    if board is None:
        return None
    for cell in board.by_score:
        rate = world.rates.rate_for(cell.identity.model.slug)
        tokens, minutes = cell.figures["tokens_total"], cell.figures["minutes_total"]
        known = tokens.amount is not None and minutes.amount is not None and tokens.n == tokens.m
        if cell.basis is CostBasis.HARDWARE_DERIVED and isinstance(rate, HardwareRate) and known:
            return _worked(world, cell, rate, tokens.amount or 0.0, minutes.amount or 0.0, page)
    return None


def token_examples(world: World, page: str) -> Table | None:
    """One trial per way of counting the cache: the one with most tokens of each."""
    rows = []
    for semantics in (CacheSemantics.DISJOINT, CacheSemantics.PARTITION):
        found = _largest(world, semantics)
        if found is None:
            continue
        cell, trial = found
        usage = trial.record.usage
        if usage is None:
            continue
        parts = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
        formula = "input + output"
        if semantics is CacheSemantics.DISJOINT:
            formula += " + cache read + cache write"
        rows.append(
            [
                Entry(semantics.value),
                link_entry(
                    f"{label(cell)}, {cell.identity.harness}",
                    links.relative(page, world.cell_page(cell)),
                    trial.task,
                ),
                *(_count(part) for part in parts),
                Entry(formula, code=True),
                _count(trial.tokens),
            ]
        )
    if not rows:
        return None
    columns = [Column("Cache counts"), Column("Trial")]
    columns += [Column(name, "number") for name in ("Input", "Output", "Cache read", "Cache write")]
    columns += [Column("Rule"), Column("Tokens processed", "number")]
    return table("Tokens processed, worked out", columns, rows, sortable=False)


def figure_definitions(example: Cell | None) -> list[Definition]:
    """Every figure: unit, formula, what it says, and its value for one cell."""
    return [
        Definition(
            name=figure.name,
            title=figure.title,
            unit=figure.unit.value,
            formula=figure.formula,
            meaning=figure.meaning,
            example=_example(example.figures[figure.name], figure.unit) if example else "",
        )
        for figure in FIGURES
    ]


def _example(value: Value, unit: Unit) -> str:
    sure = sureness(value, unit)
    return words.with_count(value, unit) + (f"; {sure}" if sure else "")


def _worked(
    world: World, cell: Cell, rate: HardwareRate, tokens: float, minutes: float, page: str
) -> WorkedRate:
    prompt = rate.level.prompt_tokens_per_second or 0.0
    output = rate.level.output_tokens_per_second or 0.0
    cost = tokens * rate.usd_per_token
    return WorkedRate(
        name=f"{label(cell)} under {cell.identity.harness}",
        href=links.relative(page, world.cell_page(cell)),
        dollars_per_hour=f"{rate.usd_per_hour:g}",
        prompt_rate=f"{prompt:,.2f}",
        output_rate=f"{output:,.2f}",
        total_rate=f"{prompt + output:,.2f}",
        concurrency=rate.level.concurrency,
        per_token=f"{rate.usd_per_token:.4e}",
        tokens=f"{tokens:,.0f}",
        machine_seconds=f"{tokens / (prompt + output):,.1f}",
        cost=words.dollars(cost),
        minutes=f"{minutes:,.1f}",
        wall_clock=words.dollars(wall_clock_cost(minutes * 60, rate.usd_per_hour)),
    )


def _largest(world: World, semantics: CacheSemantics) -> tuple[Cell, TrialFacts] | None:
    found = [
        (cell, trial)
        for cell in world.cells
        for trial in cell.counted
        if trial.record.usage is not None
        and trial.record.usage.cache_semantics is semantics
        and trial.tokens is not None
    ]
    return max(found, key=lambda pair: (pair[1].tokens or 0, pair[0].key, pair[1].task), default=None)


def _count(number: int | None) -> Entry:
    return (
        Entry("not reported", None, unknown=True) if number is None else Entry(f"{number:,}", float(number))
    )
