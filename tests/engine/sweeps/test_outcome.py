"""The lines that a finished sweep shows can be read and say what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.costs import load_instance_prices
from runner.costs.levels import findings_of
from runner.engine.sweeps.outcome import HEADER, outcome_lines
from runner.records import Deployment, Level, ThroughputRecord

PRICES = load_instance_prices(Path(__file__).parents[3] / "datasets" / "prices" / "instances.yaml")


def shown(levels: list[Level], instance: str = "p5en.48xlarge", share: float | None = None) -> list[str]:
    machine = Deployment(name="d", model="m", instance_type=instance, instance_share=share)
    record = ThroughputRecord(
        sweep_id="s",
        deployment=machine,
        harnessmark_version="1",
        levels=tuple(levels),
        findings=findings_of(levels),
    )
    return [*outcome_lines(record, PRICES)]


def test_no_two_words_of_the_table_run_together_however_long_they_are() -> None:
    long = Level(concurrency=1000, prompt_tokens_per_second=123_456_789.12, output_tokens_per_second=1e12)
    header, *rows = shown([Level(concurrency=1), long])[:3]
    assert header.split("  ")[-1].strip() == HEADER[-1]
    assert rows[0].split() == ["1", *["unknown"] * 8]
    assert rows[1].split() == ["1000", "123,456,789.1", "1,000,000,000,000.0", *["unknown"] * 6]
    assert len({len(each) for each in (header, *rows)}) == 1


@pytest.mark.parametrize(
    ("instance", "share", "words"),
    [
        ("p5en.48xlarge", None, ("p5en.48xlarge", "--tensor-parallel-size", "--instance-share")),
        ("a-box", 1.0, ("a-box is not in the price list",)),
    ],
)
def test_a_missing_price_names_what_would_give_it(
    instance: str, share: float | None, words: tuple[str, ...]
) -> None:
    level = Level(concurrency=1, prompt_tokens_per_second=10.0, output_tokens_per_second=1.0)
    (line,) = [each for each in shown([level], instance, share) if each.startswith("cheapest")]
    assert all(word in line for word in words), line


def test_a_known_share_has_a_price() -> None:
    level = Level(concurrency=1, prompt_tokens_per_second=10.0, output_tokens_per_second=1.0)
    (line,) = [each for each in shown([level], share=0.5) if each.startswith("cheapest")]
    assert "USD per million tokens of any kind (13.86 USD an hour)" in line
