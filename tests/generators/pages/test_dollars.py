"""Dollars: the reader of amounts finds what it is to find, so that the walk over the site means something."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.generators.committed import committed_sources
from tests.generators.pages.dollars import AMOUNT, BASIS, DAY, amounts

ROW = (
    '<div role="region" aria-label="{label}"><table>'
    '<thead><tr><th>Cell</th><th title="{head}">Cost</th></tr></thead>'
    "<tbody><tr><th>a</th><td>$1.20 <small>{note}</small></td></tr><tr><th>b, metered, 2026-01-01</th>"
    "<td>none</td></tr></tbody></table></div>"
)


@pytest.mark.parametrize(
    ("html", "complete"),
    [
        ("<p>It cost $1.20.</p>", False),
        ("<p>It cost $1.20, metered.</p>", False),
        ("<p>It cost $1.20 on 2026-08-15.</p>", False),
        ("<p>It cost $1.20, metered, 2026-08-15.</p>", True),
        ("<p>It cost $1.20.</p><p>metered, 2026-08-15</p>", False),
        ("<ul><li>Cost <b>$4</b></li><li>metered, 2026-08-15</li></ul>", False),
        ("<ul><li>Cost <b>$4</b> <i>credits, day of the prices not known</i></li></ul>", True),
        ("<dl><div><dt>Rate, hardware-derived</dt><dd>$4 <small>2026-09-01</small></dd></div></dl>", True),
        ("<figure><svg><text>$3</text></svg><figcaption>metered, 2026-08-15</figcaption></figure>", True),
        ("<figure><svg><text>$3</text></svg></figure><p>metered, 2026-08-15</p>", False),
        (ROW.format(label="Cells", head="", note=""), False),
        (ROW.format(label="Cells", head="", note="metered, 2026-08-15"), True),
        (ROW.format(label="Cells, hardware-derived", head="machine prices of 2026-09-01", note=""), True),
    ],
)
def test_an_amount_is_complete_only_with_basis_and_day_near_it(html: str, *, complete: bool) -> None:
    (amount,) = amounts(html)
    assert amount.complete == complete


def test_labels_that_only_some_readers_get_are_looked_at() -> None:
    (amount,) = amounts('<a href="x" aria-label="opus: $2.40">opus</a>')
    assert not amount.complete


@pytest.mark.parametrize(
    "html",
    [
        "<p>The source used 112.32 USD an hour.</p>",
        "<p>USD 5 for each</p>",
        "<p>It is 3 dollars.</p>",
        "<option>pro: 0.02 USD</option>",
        '<td data-note="$5 each">x</td>',
        '<img alt="2.40 USD">',
    ],
)
def test_amounts_in_words_and_in_attributes_are_looked_at(html: str) -> None:
    (amount,) = amounts(html)
    assert not amount.complete


def test_a_dollar_sign_without_a_number_is_no_amount() -> None:
    assert amounts("<p>The variable $HOME and a $ sign.</p>") == []
    assert amounts("<script>let a = '$5'</script>") == []


def hovers(figure: object) -> Iterator[str]:
    """What the boxes of an interactive chart say."""
    if isinstance(figure, dict):
        yield from (text for text in figure.get("hovertext") or () if isinstance(text, str))
        for part in figure.values():
            yield from hovers(part)
    elif isinstance(figure, list):
        for part in figure:
            yield from hovers(part)


def test_every_dollar_that_a_chart_says_on_hover_has_its_basis_and_day(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    docs, _ = committed_sources(tmp_path_factory)
    said = [
        (path.name, text)
        for path in sorted((docs / "data" / "charts").glob("*.json"))
        for text in hovers(json.loads(path.read_text(encoding="utf-8")))
        if AMOUNT.search(text)
    ]
    assert len(said) > 300
    for name, text in said:
        assert BASIS.search(text), (name, text)
        assert DAY.search(text), (name, text)
