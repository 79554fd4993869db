"""Parts of pages: tables, facts and links as the templates write them, and the laws of the words in them."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup

from generators.pages import words
from generators.pages.rendering import Page, Renderer, fold
from generators.pages.table import (
    Column,
    Entry,
    Table,
    count_entry,
    link_entry,
    number_entry,
    table,
    value_entry,
)
from generators.tables.sample import Unit, Value
from runner.records import ArtifactState, CheckStatus, JudgementStatus, Outcome
from tests.generators.markup import Read, read

FORMATTED = re.compile(r"([<>] )?[−+±]?\$?[\d,]+(\.\d+)?( M| %)?")


def written(data: Table) -> str:
    """The HTML of a table as a page holds it."""
    context: dict[str, object] = {"table": data, "lead": "lead", "after": None}
    source = Renderer().render(Page("x.md", "X", "index.md.j2", "d", context=context))
    (line,) = [line for line in source.splitlines() if "<table" in line]
    return line


def shown(data: Table) -> Read:
    """Its tags and text."""
    return read(written(data))


TWO = [Column("Name"), Column("Size", "number", "how large it is")]


def test_a_table_is_one_block_that_a_keyboard_reaches_and_a_reader_hears() -> None:
    found = shown(table("Sizes", TWO, [[Entry("a"), Entry("1", 1.0)], [Entry("b"), Entry("2", 2.0)]]))
    (outer,) = [attributes for tag, attributes in found.tags if tag == "div"]
    assert outer["tabindex"] == "0"
    assert outer["aria-label"] == "Sizes"
    assert [attributes["scope"] for tag, attributes in found.tags if tag == "th"] == ["col"] * 2 + ["row"] * 2


def test_numbers_sort_by_value_and_unknown_ones_have_none() -> None:
    found = shown(
        table("Sizes", TWO, [[Entry("a"), Entry("1.5 M", 1.5e6)], [Entry("b"), Entry("not known", None)]])
    )
    assert found.values("data-value") == ["1500000.0", ""]
    assert found.values("data-type") == ["text", "number"]
    assert found.values("title") == ["how large it is"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_sort_value_is_exactly_the_number(number: float) -> None:
    found = shown(table("Sizes", TWO, [[Entry("a"), Entry("x", number)]]))
    assert float(found.values("data-value")[0]) == number


@pytest.mark.parametrize(("rows", "sortable"), [(0, False), (1, False), (2, True), (9, True)])
def test_only_a_table_with_something_to_sort_is_sortable(rows: int, sortable: bool) -> None:
    data = table("Sizes", TWO, [[Entry(str(row)), Entry("1", 1.0)] for row in range(rows)])
    assert ("data-sortable" in written(data)) is sortable
    fixed = table("Sizes", TWO, [[Entry("a"), Entry("1", 1.0)]] * 3, sortable=False)
    assert "data-sortable" not in written(fixed)


def test_marked_rows_are_the_ones_that_were_marked() -> None:
    rows = [[Entry(name), Entry("1", 1.0)] for name in "abc"]
    found = written(table("Sizes", TWO, rows, marked=[False, True, False]))
    marked = re.findall(r'<tr class="hm-marked"><th scope="row">(.)</th>', found)
    assert marked == ["b"]


def test_an_entry_is_a_link_or_unknown_or_code_and_its_note_stands_below() -> None:
    rows = [
        [link_entry("name", "../x/", "note"), number_entry(None, Unit.POINTS, "no score")],
        [Entry("raw", code=True), count_entry(1234)],
    ]
    found = written(table("Sizes", TWO, rows))
    assert '<a href="../x/">name</a><small class="hm-note">note</small>' in found
    assert '<span class="hm-unknown">no score</span>' in found
    assert "<code>raw</code>" in found
    assert 'data-value="1234.0">1,234<' in found


def test_columns_of_sentences_are_kept_wide() -> None:
    columns = [Column("Name"), Column("Why", wide=True), Column("Short")]
    found = written(table("Reasons", columns, [[Entry("a"), Entry("because"), Entry("x")]]))
    assert '<td class="hm-wide">because</td><td>x</td>' in found


@given(st.text(max_size=60))
def test_any_text_in_any_part_of_a_table_stays_text_on_one_line(raw: str) -> None:
    columns = [Column(raw), Column("Size", "number", raw)]
    found = written(table(raw, columns, [[Entry(raw, note=raw, href=raw), Entry(raw, None)]]))
    assert "\n" not in found
    parsed = read(found)
    assert parsed.live() == []
    assert parsed.names <= {"div", "table", "thead", "tbody", "tr", "th", "td", "a", "small", "span", "code"}


@given(st.lists(st.text(alphabet="ab<>&\n ", max_size=10), max_size=6))
def test_folding_changes_no_word(blocks: list[str]) -> None:
    body = "\n\n".join(blocks)
    assert fold(body).split() == body.split()
    assert all("\n" not in block for block in fold(body).split("\n\n"))


def test_markup_passes_through_a_template_once() -> None:
    context: dict[str, object] = {"lead": Markup("<em>x</em> & y"), "table": None, "after": None}
    template = Renderer().environment.from_string("{{ lead }}|{{ plain }}")
    assert template.render(**context, plain="<em>") == "<em>x</em> & y|&lt;em&gt;"


@given(st.floats(0, 1e9), st.sampled_from(list(Unit)))
@example(7.7e-204, Unit.DOLLARS)
@example(99.7, Unit.PERCENT)
def test_every_amount_is_a_number_with_its_unit(number: float, unit: Unit) -> None:
    assert FORMATTED.fullmatch(words.amount(number, unit)), words.amount(number, unit)


@given(st.floats(-1e6, 1e6), st.sampled_from(list(Unit)))
def test_a_difference_has_exactly_one_sign(number: float, unit: Unit) -> None:
    found = words.signed(number, unit)
    assert found[0] in "+−±"
    assert not set(found[1:]) & set("+−±-")


@given(st.floats(0, 1))
def test_certainty_is_written_only_where_it_is_meant(share: float) -> None:
    found = words.percent(share)
    assert (found == "0 %") == (share == 0)
    assert (found == "100 %") == (share == 1)


@given(st.floats(0.1, 1e7), st.floats(0.1, 1e7))
def test_more_dollars_are_never_written_as_fewer(one: float, two: float) -> None:
    first, second = sorted((one, two))
    assert _plain(words.dollars(first)) <= _plain(words.dollars(second))


def _plain(dollars: str) -> float:
    return float(dollars.lstrip("$").replace(",", ""))


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, "0.0 s"),
        (0.69, "0.7 s"),
        (59.9, "59.9 s"),
        (60.0, "1.0 min"),
        (3_599.0, "60.0 min"),
        (3_600.0, "1.0 h"),
        (7_200.0, "2.0 h"),
    ],
)
def test_a_time_span_has_the_unit_that_fits(seconds: float, expected: str) -> None:
    assert words.duration(seconds) == expected


def test_a_moment_is_told_with_its_zone() -> None:
    assert words.moment(datetime(2026, 1, 31, 12, 0, 5, 999, tzinfo=UTC)) == "2026-01-31 12:00:05 UTC"


@pytest.mark.parametrize(("number", "expected"), [(0, "0 cells"), (1, "1 cell"), (1200, "1,200 cells")])
def test_one_is_singular(number: int, expected: str) -> None:
    assert words.counted(number, "cell") == expected
    assert words.counted(2, "entry", "entries") == "2 entries"


def test_every_state_of_a_record_has_words_without_underscores() -> None:
    said = [words.outcome(kind) for kind in Outcome]
    said += [words.check_status(kind) for kind in CheckStatus]
    said += [words.judgement_status(kind) for kind in JudgementStatus]
    said += [words.artifact_state(kind) for kind in ArtifactState]
    assert all(text and "_" not in text for text in said)
    assert len({words.check_status(kind) for kind in CheckStatus}) == len(CheckStatus)
    assert len({words.outcome(kind) for kind in Outcome}) == len(Outcome)


@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=3), max_size=20), st.integers(1, 12))
def test_a_listing_accounts_for_every_name(names: list[str], limit: int) -> None:
    found = words.listing(names, limit)
    head, _, rest = found.partition(" and ")
    listed = head.split(", ") if head else []
    more = int(rest.split()[0]) if rest else 0
    assert len(listed) + more == len(names)
    assert listed == names[: len(listed)]


@given(st.one_of(st.none(), st.floats(0, 1e6)), st.integers(0, 9), st.integers(0, 9))
def test_a_figure_never_stands_without_its_count_or_its_reason(
    amount: float | None, known: int, more: int
) -> None:
    value = Value(amount, known, known + more, "" if amount is not None else "nobody said")
    for below in (False, True):
        entry = value_entry(value, Unit.POINTS, count_below=below)
        count = f"{known} of {known + more}"
        told = f"{entry.text} {entry.note}"
        assert ("nobody said" in told and entry.sort is None) if amount is None else count in told


def test_text_with_marks_of_html_arrives_as_written() -> None:
    raw = 'a < b & "c" > d'
    found = written(table("x", [Column("A")], [[Entry(raw)]]))
    assert raw in html.unescape(found)
