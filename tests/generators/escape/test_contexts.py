"""Escaping, one context at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from generators import escape
from generators.escape.characters import one_line, shortened, visible
from tests.generators.markup import LIVE_ADDRESS, read

anything = st.text(st.characters(codec=None), max_size=200)


def test_unescaped_text_joined_to_markup_is_escaped() -> None:
    joined = escape.text("<b>") + "<i>"
    assert isinstance(joined, Markup)
    assert joined == "&lt;b&gt;&lt;i&gt;"


def test_markup_passes_text_but_not_attribute() -> None:
    safe = Markup("<b>x</b>")
    assert escape.text(safe) == safe
    assert escape.attribute("a`b") == "a&#96;b"


def test_control_characters_become_visible() -> None:
    assert visible("a\x00\x1b[31m\x7f") == "a␀␛[31m␡"
    assert visible("a\r\nb\rc\u2028d") == "a\nb\nc\nd"
    assert visible("\u202egnp.exe") == "\N{REPLACEMENT CHARACTER}gnp.exe"
    assert visible("\ud800") == "\N{REPLACEMENT CHARACTER}"


@given(anything)
def test_visible_text_is_utf8_and_stays_the_same_when_repeated(raw: str) -> None:
    once = visible(raw)
    once.encode()
    assert visible(once) == once


@given(anything, st.integers(2, 50))
def test_shortened_text_is_one_line_within_its_limit(raw: str, limit: int) -> None:
    cut = shortened(raw, limit)
    assert len(cut) <= limit
    assert "\n" not in cut
    assert cut == one_line(raw) or cut.endswith("…")


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/a?b=c&d=e#f",
        "http://example.org:8080/",
        "https://[2001:db8::1]/x",
        "mailto:someone@example.org",
        "../cells/x/",
        "cells/a_b/pi/swe3/",
        "/absolute/in/site",
        "#part",
        "?q=1",
        "a/b:c",
    ],
)
def test_web_mail_and_site_addresses_stay(address: str) -> None:
    assert escape.is_safe_url(address)
    assert read(f'<a href="{escape.url(address)}">x</a>').values("href") == [address]


def test_blanks_quotes_and_letters_beyond_ascii_are_percent_encoded() -> None:
    assert escape.url('a b/"x"/ü') == "a%20b/%22x%22/%C3%BC"
    assert escape.url("a/100%25/b") == "a/100%25/b"


@pytest.mark.parametrize(
    "address", ["", "  ", "//host/x", "x:y", "ftp://h/", "https://", "https://a@b/", "a\\b", "x" * 3000]
)
def test_other_addresses_lead_nowhere(address: str) -> None:
    assert escape.url(address) == "#"


@given(anything)
def test_no_address_ever_runs(raw: str) -> None:
    address = read(f'<a href="{escape.url(raw)}">x</a>').values("href")[0]
    assert not LIVE_ADDRESS.match(address)
    assert not address.startswith("//")


def test_json_refuses_numbers_that_are_none() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        escape.json_script({"cost": float("nan")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        escape.json_file({"cost": float("inf")})


def test_json_files_are_one_deterministic_line() -> None:
    assert escape.json_file({"b": [1, None], "a": "<ü>"}) == '{"b":[1,null],"a":"<ü>"}\n'


def test_a_markdown_line_is_cut_at_its_limit() -> None:
    assert escape.markdown_text("word " * 10, limit=12) == "word word w…"


def test_front_matter_takes_flags_and_nested_flags() -> None:
    block = escape.front_matter({"title": 'a "b"', "hide_it": True, "search": {"exclude": True}, "n": 3})
    assert block.startswith(
        '---\ntitle: "a &#34;b&#34;"\nhide_it: true\nsearch: {"exclude": true}\nn: 3\n---\n'
    )
