"""Untrusted documents: what survives, what is cut, and how long it may take."""

from __future__ import annotations

import time

import pytest

from generators import escape
from generators.escape import document
from generators.escape.rendering import render, sanitise
from tests.generators.markup import read


def test_ordinary_markdown_is_rendered() -> None:
    html = escape.untrusted_markdown(
        "# Title\n\nText with **bold**, `code` and ~~old~~.\n\n- one\n- two\n\n"
        "| a | b |\n|--|--|\n| 1 | 2 |\n\n```py\nx\n```\n"
    )
    found = read(html)
    assert {"h3", "strong", "code", "s", "ul", "li", "table", "td", "pre"} <= found.names
    assert html.startswith('<div class="hm-untrusted">')
    assert "\n" not in html
    assert found.text.count("x") >= 1


def test_web_links_stay_and_others_lose_their_target() -> None:
    found = read(escape.untrusted_markdown("[a](https://ok.example/) [b](../x) [c](#y) [d](javascript:x)"))
    assert found.values("href") == ["https://ok.example/"]
    assert set(found.values("rel")) == {"nofollow noopener noreferrer ugc"}


def test_images_become_their_description() -> None:
    found = read(escape.untrusted_markdown("![a chart](https://evil.invalid/x.png)"))
    assert "img" not in found.names
    assert "[image: a chart]" in found.text


def test_headings_start_below_the_page_and_skip_no_level() -> None:
    html = escape.untrusted_markdown("### deep\n\n# top\n\n#### skipped\n\n## up\n", base_level=3)
    assert [tag for tag, _ in read(html).tags if tag.startswith("h")] == ["h3", "h3", "h4", "h4"]
    six = escape.untrusted_markdown("# a\n## b\n### c\n", base_level=6)
    assert [tag for tag, _ in read(six).tags if tag.startswith("h")] == ["h6", "h6", "h6"]


def test_wide_parts_can_be_scrolled_by_keyboard() -> None:
    html = escape.untrusted_markdown("| a |\n|--|\n| 1 |\n\n    code\n")
    assert [attributes.get("tabindex") for tag, attributes in read(html).tags if tag in {"pre", "div"}] == [
        None,
        "0",
        "0",
    ]


def test_ids_are_prefixed_and_relative_addresses_denied_by_the_sanitiser() -> None:
    assert sanitise('<a href="x" id="document">y</a>', "doc-") == (
        '<a rel="nofollow noopener noreferrer ugc">y</a>'
    )


def test_text_beyond_the_limit_is_cut_and_the_whole_is_linked() -> None:
    long = "word " * 60_000
    html = escape.untrusted_markdown(long, raw_href="raw/lld.md")
    assert 'href="raw/lld.md"' in html
    assert "Cut after 256 KB" in html
    assert len(read(html).text) < 257 * 1024
    assert "Cut after" not in escape.untrusted_markdown("short", raw_href="raw/lld.md")


def test_a_cut_never_splits_a_character() -> None:
    assert document.cut("äöü", 3) == ("ä", True)
    assert document.cut("äöü", 6) == ("äöü", False)


def test_a_document_that_takes_too_long_is_shown_as_written() -> None:
    raw = "[" * 100_000
    began = time.monotonic()
    html = escape.untrusted_markdown(raw, seconds=0.05)
    assert time.monotonic() - began < 30
    assert [tag for tag, _ in read(html).tags] == ["div", "pre"]
    assert read(html).text == raw


def test_a_document_rendered_in_a_child_looks_like_one_rendered_here() -> None:
    part = "# Part\n\nSome *text* with `code`.\n\n"
    raw = part * 700
    assert len(raw) > document.MAX_BYTES_IN_PROCESS
    here = render(raw, id_prefix="doc-", base_level=3)
    assert escape.untrusted_markdown(raw) == f'<div class="hm-untrusted">{here}</div>'


@pytest.mark.parametrize(
    "raw",
    [
        "[" * 16_384,
        "[a](" * 4_000,
        "![" * 8_000,
        "*a " * 5_000,
        "*_" * 8_000,
        "".join("`" * count + " " for count in range(1, 170)),
        ">" * 16_000,
        "".join(" " * depth + "- a\n" for depth in range(170)),
        "|a" * 4_000 + "\n" + "|-" * 4_000 + "\n",
        "|a" * 2_000 + "\n" + "|-" * 2_000 + "\n" + "|\n" * 3_000,
        "<" * 16_000,
        "&#" * 8_000,
        "a\\\n" * 5_000,
        "~~a" * 5_000,
        "[" * 4_000 + "a" + "](b)" * 2_000,
    ],
    ids=lambda raw: f"{raw[:4]!r}",
)
def test_the_worst_documents_rendered_in_this_process_are_quick(raw: str) -> None:
    began = time.process_time()
    escape.untrusted_markdown(raw[: document.MAX_BYTES_IN_PROCESS])
    assert time.process_time() - began < 4
