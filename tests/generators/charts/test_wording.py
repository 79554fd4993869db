"""Wording: charts write an amount as the tables beside them do."""

from __future__ import annotations

import pytest

from generators.charts import wording
from generators.pages import words


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.1564, "$0.16"),
        (0.7651, "$0.77"),
        (0.0431, "$0.0431"),
        (1234.5, "$1,234.50"),
        (4.8e-7, "$0.00000048"),
        (3e-10, "< $0.00000001"),
        (0.0, "$0.00"),
    ],
)
def test_one_cost_looks_alike_in_a_chart_and_in_the_table_beside_it(amount: float, text: str) -> None:
    assert wording.dollars(amount) == words.dollars(amount) == text


def test_an_unknown_amount_of_a_chart_is_said() -> None:
    assert wording.dollars(None) == "unknown"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.00"),
        (0.0004, "< 0.01"),
        (0.97, "0.97"),
        (0.9996, "> 0.99"),
        (1.0, "1.00"),
        (None, "not computed"),
    ],
)
def test_a_probability_is_not_rounded_to_certainty(share: float | None, text: str) -> None:
    assert wording.probability(share) == text
