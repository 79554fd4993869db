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
        (0.0, "$0.00"),
    ],
)
def test_one_cost_looks_alike_in_a_chart_and_in_the_table_beside_it(amount: float, text: str) -> None:
    assert wording.dollars(amount) == words.dollars(amount) == text


def test_an_unknown_amount_of_a_chart_is_said() -> None:
    assert wording.dollars(None) == "unknown"
