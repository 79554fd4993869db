"""Figures: the registry of every number a page can show about a cell, each with its formula and unit."""

from __future__ import annotations

from generators.tables import effort, money, scores
from generators.tables.sample import Figure, Sample, Unit, Value
from generators.tables.spread import Kind

FIGURES: tuple[Figure, ...] = (
    Figure("mean_score", "Mean score", Unit.POINTS, "sum(score) / n scored", scores.mean_score, Kind.SCORE),
    Figure("median_score", "Median score", Unit.POINTS, "middle of the sorted scores", scores.median_score),
    Figure("lowest_score", "Lowest score", Unit.POINTS, "min(score)", scores.lowest_score),
    Figure("highest_score", "Highest score", Unit.POINTS, "max(score)", scores.highest_score),
    Figure(
        "score_spread",
        "Standard deviation over tasks",
        Unit.POINTS,
        "sqrt(sum((score - mean)^2) / (n - 1))",
        scores.score_spread,
    ),
    Figure(
        "score_with_failures",
        "Score, failed trials as zero",
        Unit.POINTS,
        "sum(score) / (n scored + n failed)",
        scores.score_with_failures,
        Kind.SCORE,
    ),
    Figure(
        "score_lower_bound",
        "Score, worst case",
        Unit.POINTS,
        "(sum(score) + 0 x open) / planned",
        scores.score_lower_bound,
    ),
    Figure(
        "score_upper_bound",
        "Score, best case",
        Unit.POINTS,
        "(sum(score) + 100 x open) / planned",
        scores.score_upper_bound,
    ),
    Figure(
        "cost_per_task",
        "Cost per task",
        Unit.DOLLARS,
        "sum(cost of graded trials with a known cost) / their number",
        money.cost_per_task,
        Kind.AMOUNT,
    ),
    Figure(
        "median_cost_per_task",
        "Median cost per task",
        Unit.DOLLARS,
        "middle of the sorted costs of graded trials",
        money.median_cost_per_task,
    ),
    Figure("spend_total", "Total spend", Unit.DOLLARS, "sum(known costs of all trials)", money.spend_total),
    Figure(
        "cost_per_scored_task",
        "Spend per scored task",
        Unit.DOLLARS,
        "total spend / n scored",
        money.cost_per_scored_task,
    ),
    Figure(
        "cost_per_point", "Cost per point", Unit.DOLLARS, "cost per task / mean score", money.cost_per_point
    ),
    Figure(
        "judging_spend",
        "Spend on judging",
        Unit.DOLLARS,
        "sum(known costs of all judgements), part of no other figure",
        money.judging_spend,
    ),
    Figure(
        "tokens_per_task",
        "Tokens per task",
        Unit.TOKENS,
        "sum(tokens processed by graded trials) / their number",
        effort.tokens_per_task,
        Kind.AMOUNT,
    ),
    Figure("tokens_total", "Tokens processed", Unit.TOKENS, "sum(tokens processed)", effort.tokens_total),
    Figure("input_tokens", "Input tokens", Unit.TOKENS, "sum(input tokens)", effort.input_tokens),
    Figure("output_tokens", "Output tokens", Unit.TOKENS, "sum(output tokens)", effort.output_tokens),
    Figure(
        "cache_read_tokens", "Cache read", Unit.TOKENS, "sum(cache read tokens)", effort.cache_read_tokens
    ),
    Figure(
        "cache_write_tokens", "Cache write", Unit.TOKENS, "sum(cache write tokens)", effort.cache_write_tokens
    ),
    Figure(
        "minutes_per_task",
        "Minutes per task",
        Unit.MINUTES,
        "sum(wall-clock seconds of graded trials) / 60 / their number",
        effort.minutes_per_task,
        Kind.AMOUNT,
    ),
    Figure(
        "minutes_total",
        "Wall-clock minutes",
        Unit.MINUTES,
        "sum(wall-clock seconds) / 60",
        effort.minutes_total,
    ),
    Figure(
        "turns_per_task",
        "Turns per task",
        Unit.TURNS,
        "sum(turns of graded trials) / their number",
        effort.turns_per_task,
        Kind.AMOUNT,
    ),
    Figure(
        "resolved_share",
        "Resolved",
        Unit.PERCENT,
        "100 x all checks passed / n graded",
        scores.resolved_share,
        Kind.SHARE,
    ),
)

BY_NAME = {figure.name: figure for figure in FIGURES}


def compute_all(sample: Sample) -> dict[str, Value]:
    """Every figure of a sample by name."""
    return {figure.name: figure.compute(sample) for figure in FIGURES}
