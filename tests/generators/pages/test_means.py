"""Means: the reader finds what it is to find, so that the walk over the site means something."""

from __future__ import annotations

import pytest

from tests.generators.pages.means import means

TABLE = (
    "<table><thead><tr><th>Cell</th><th>{head}</th>{more}</tr></thead>"
    "<tbody><tr><th>a</th>{cells}</tr></tbody></table>"
)
TILE = '<ul class="hm-tiles"><li><span>{name}</span><span>70.8</span><span>{note}</span></li></ul>'


def of_table(head: str, text: str, beside: tuple[str, str] | None = None) -> str:
    """A table of one row with a mean, and where asked a second column."""
    more = f"<th>{beside[0]}</th>" if beside else ""
    cells = f"<td>{text}</td>" + (f"<td>{beside[1]}</td>" if beside else "")
    return TABLE.format(head=head, more=more, cells=cells)


@pytest.mark.parametrize(
    ("html", "complete"),
    [
        (of_table("Mean score", "70.8 (5 of 5)"), False),
        (of_table("Mean score", "70.8 <small>95 %: 66.1 to 75.5</small>"), False),
        (of_table("Mean score", "70.8 (5 of 5) <small>95 %: 66.1 to 75.5</small>"), True),
        (of_table("Mean score", "70.8 (1 of 1) <small>no interval: one task only</small>"), True),
        (of_table("Resolved", "80 % (4 of 5)"), False),
        (of_table("Cost, high", "$1.20 (4 of 5); metered"), False),
        (of_table("Mean score", "70.8", ("How sure the score is", "5 of 5 tasks; 95 %: 66.1 to 75.5")), True),
        (of_table("Mean score", "70.8", ("Note", "5 of 5; 95 %: 66.1 to 75.5")), False),
        (TILE.format(name="Mean score", note="5 of 5"), False),
        (TILE.format(name="Mean score", note="5 of 5; 95 %: 66.1 to 75.5"), True),
        ('<a aria-label="opus, score 70.8 (5 of 5 tasks)">x</a>', False),
        ('<a aria-label="opus, score 70.8 (5 of 5 tasks; 95 %: 66.1 to 75.5)">x</a>', True),
    ],
)
def test_a_mean_is_complete_only_with_count_and_sureness(html: str, *, complete: bool) -> None:
    (mean,) = means(html)
    assert mean.complete == complete


@pytest.mark.parametrize("text", ["not known <small>no trial was scored</small>", "not priced", "none"])
def test_what_is_unknown_needs_no_interval(text: str) -> None:
    assert means(of_table("Mean score", text)) == []


def test_single_scores_and_counts_are_no_means() -> None:
    assert means(of_table("Score", "70.8")) == []
    assert means(TILE.format(name="Cells", note="harness x model")) == []
