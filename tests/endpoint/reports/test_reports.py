"""Reports: nothing from outside becomes markup or a formula, and what is not known is a dash."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from runner.endpoint.reports import shown
from runner.endpoint.reports.comma import COLUMNS, safe, timings_csv
from runner.endpoint.reports.html import html
from runner.endpoint.reports.markdown import cell, markdown
from runner.endpoint.reports.tables import report_of, timings_table
from runner.endpoint.statistics.distribution import distribution
from runner.records.bench_trial import BenchFailure, BenchTrial
from tests import bench_examples

HOSTILE = (
    "<script>alert(1)</script>",
    "| a | b |",
    "[x](javascript:alert(1))",
    "![x](http://evil.example/p.png)",
    "line\r\nbreak\u2028and\x00more",
    "`code` *bold* _it_ ~~gone~~",
    "http://evil.example/",
    "&lt;b&gt;",
    "=HYPERLINK(1)",
)


def failed(message: str) -> BenchTrial:
    trial = bench_examples.trial()
    request = trial.requests[0].model_copy(
        update={
            "outcome": "http_error",
            "failure": BenchFailure(code="http_500", message=message, phase="headers"),
        }
    )
    return trial.model_copy(update={"requests": (request,)})


class Tags(HTMLParser):
    """Notes every tag and attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_providers_words_are_text_in_every_report(text: str) -> None:
    report = report_of(bench_examples.manifest(), bench_examples.summary(), [failed(text)])
    page = Tags()
    page.feed(html(report))
    assert page.tags <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "dl",
        "dt",
        "dd",
        "p",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert not {name for name in page.attributes if name.startswith("on") or name in {"src", "href"}}
    rendered = MarkdownIt("commonmark", {"linkify": False}).enable("table").render(markdown(report))
    drawn = Tags()
    drawn.feed(rendered)
    assert drawn.tags <= {
        "h1",
        "h2",
        "ul",
        "li",
        "p",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }


@given(st.text(max_size=60))
def test_a_cell_stays_one_cell_on_one_line(text: str) -> None:
    written = cell(text)
    assert len(written.splitlines()) <= 1
    rendered = (
        MarkdownIt("commonmark").enable("table").render(f"| a | b |\n| --- | --- |\n| {written} | end |\n")
    )
    assert rendered.count("<td>") == 2


@given(st.text(max_size=60))
def test_no_text_of_the_csv_is_a_formula(text: str) -> None:
    (row,) = list(csv.reader(io.StringIO(timings_csv([failed(text)], 1))))[1:]
    message = row[COLUMNS.index("failure_message")]
    assert not message.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert message.removeprefix("'") == text.replace("\x00", "") or message == text.replace("\x00", "")
    assert len(row) == len(COLUMNS)


def test_numbers_stay_numbers_and_unknown_stays_empty() -> None:
    assert (safe(-1.5), safe(None), safe(True), safe("-1+1"), safe(0)) == ("-1.5", "", "true", "'-1+1", "0")


def test_a_skipped_trial_has_a_row_with_its_reason() -> None:
    trial = bench_examples.trial().model_copy(update={"requests": (), "skipped": "no tools"})
    (row,) = list(csv.DictReader(io.StringIO(timings_csv([trial], 3))))
    assert (row["skipped"], row["ttft_ms"], row["outcome"]) == ("no tools", "", "")
    assert (row["methodology"], row["run"]) == ("3", trial.run_id)


def test_what_is_not_known_is_a_dash() -> None:
    assert {shown.number(None), shown.money(None), shown.percent(None), shown.rate(None)} == {shown.DASH}
    assert shown.quantile(distribution([]), 0.5) == shown.DASH
    assert shown.quantile(distribution([1.0]), 0.5) == "1.0"
    assert shown.adjusted(distribution([1.0], failed=9, excluded={"http_error": 9}), 0.5) == "never"


def test_a_report_says_what_it_is_and_what_to_doubt() -> None:
    text = markdown(report_of(bench_examples.manifest(), bench_examples.summary(), []))
    assert "the built-in server answered" in text
    assert "1 planned, 1 done, 0 skipped, 0 left" in text
    page = html(report_of(bench_examples.manifest(), bench_examples.summary(), []))
    assert "default-src 'none'" in page
    assert timings_table(bench_examples.manifest(), bench_examples.summary()).rows == ()
