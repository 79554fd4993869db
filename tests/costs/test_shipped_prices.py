"""The shipped price book: it loads, says where each price is from, and covers what was published."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from runner.costs import PriceBook, PriceQuestion, PriceRow, RegionClass, ServiceTier, load_price_book
from runner.costs.price_files import read_price_file

ROOT = Path(__file__).resolve().parents[2]
TOKENS = ROOT / "datasets" / "prices" / "tokens"
FILES = sorted(TOKENS.glob("*.yaml"))
PUBLISHED = ROOT / "tests" / "data" / "published"
UNPRICED = {
    "endpoint": "served on machines of one's own: priced by the machine, not by a list of tokens",
    "kiro": "billed in credits of a plan: the vendor has no price of tokens",
}
"""Providers of published runs without rows, and why."""


@cache
def book() -> PriceBook:
    """The shipped book."""
    return load_price_book(TOKENS)


def published() -> Counter[tuple[str, str]]:
    """Provider and raw id of every published run."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(PUBLISHED.glob("*/*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(document, dict) and {"model", "provider"} <= document.keys():
            found[(document["provider"], document["model"])] += 1
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_has_a_source_with_a_version_a_license_and_a_day_of_checking(path: Path) -> None:
    file, _ = read_price_file(path)
    assert file.rows
    for row in file.rows:
        source = file.sources[row.source]
        assert source.title
        assert any(character.isdigit() for character in source.version)
        assert source.url or source.path
        assert source.license
        assert row.entry
    assert set(file.sources) == {row.source for row in file.rows}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_row_was_checked_before_it_held_or_on_another_day_than_its_file(path: Path) -> None:
    file, _ = read_price_file(path)
    (checked,) = {row.checked_on for row in file.rows}
    assert all(row.effective_from <= checked for row in file.rows)
    assert all(row.effective_to is None or row.effective_to <= checked for row in file.rows)


def test_a_first_day_that_no_source_tells_is_explained() -> None:
    for row in book().rows:
        assert any(
            words in row.note for words in ("may have held before", "dates this price to", "date this")
        )


def test_no_price_is_free_and_no_cheaper_class_costs_more() -> None:
    for row in book().rows:
        prices = row.prices
        assert prices.input > 0
        assert prices.output >= prices.input
        assert prices.cache_read is None or 0 < prices.cache_read < prices.input, row
        assert prices.cache_write is None or prices.cache_write >= prices.input, row
        if prices.cache_write is not None and prices.cache_write_1h is not None:
            assert prices.cache_write_1h > prices.cache_write


def twin(row: PriceRow, region: RegionClass) -> PriceRow | None:
    """The row of another region class on the same last day."""
    day = row.effective_to or row.checked_on
    matches = [
        each
        for each in book().history(row.provider, row.model)
        if each.region_class is region
        and (each.service_tier, each.context_above) == (row.service_tier, row.context_above)
        and each.holds_on(day)
    ]
    return matches[0] if matches else None


def test_regional_prices_of_claude_are_a_tenth_above_the_global_ones() -> None:
    pairs = [(row, twin(row, RegionClass.GLOBAL)) for row in book().rows if row.provider == "bedrock"]
    compared = 0
    for row, other in pairs:
        if row.region_class is RegionClass.REGIONAL and other and "claude" in row.model:
            assert row.prices.input == pytest.approx(other.prices.input * 1.1)
            assert row.prices.output == pytest.approx(other.prices.output * 1.1)
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("day", [date(2026, 10, 4), date(2026, 11, 30)])
def test_every_published_run_has_a_price_or_a_reason_for_none(day: date) -> None:
    runs = published()
    assert len(runs) > 20
    for provider, model in runs:
        if provider in UNPRICED:
            assert provider not in book().providers()
            continue
        answer = book().lookup(PriceQuestion(provider, model, day))
        assert answer.row is not None, answer.steps
        assert answer.row.prices.cache_read is not None


def test_the_judge_of_the_published_runs_has_a_price() -> None:
    for day, price in [(date(2026, 8, 15), 5.5), (date(2026, 10, 4), 4.4)]:
        answer = book().lookup(PriceQuestion("bedrock", "openai.gpt-5.6-sol", day))
        assert answer.row is not None
        assert answer.row.prices.input == price


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-opus-5-5"),
        ("openai", "gpt-6.1-sol"),
        ("google", "gemini-3.8-flash"),
        ("bedrock", "global.anthropic.claude-fable-5-1"),
        ("moonshot", "kimi-k2.7-code"),
        ("zai", "glm-5.3"),
        ("mistral", "devstral-latest"),
        ("minimax", "minimax-m2.5"),
        ("deepseek", "deepseek-v3.2"),
        ("dashscope", "qwen3.8-max"),
        ("xai", "grok-4.7"),
    ],
)
def test_a_main_model_of_each_vendor_has_a_price_today(provider: str, model: str) -> None:
    assert book().lookup(PriceQuestion(provider, model, date(2026, 11, 30))).row is not None


def test_the_history_of_a_price_that_fell_is_told() -> None:
    rows = [
        row
        for row in book().history("openai", "gpt-5.6-luna")
        if row.service_tier is ServiceTier.STANDARD and row.context_above == 0
    ]
    assert [row.prices.input for row in rows] == [1.0, 0.2]
    assert rows[0].effective_to == date(2026, 7, 29)
    assert rows[1].effective_from == date(2026, 7, 30)
