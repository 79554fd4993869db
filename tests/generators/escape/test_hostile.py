"""Hostile text in every context: nothing of it becomes markup, and what is shown is what was written."""

from __future__ import annotations

import html
import json
import time

import markdown  # type: ignore[import-untyped]
import pytest
import yaml

from generators import escape
from generators.escape.characters import shortened, visible
from generators.escape.document import SECONDS
from generators.escape.rendering import TAGS
from tests.generators.markup import LIVE_ADDRESS, read
from tests.hostile import Hostile, corpus

CORPUS = corpus()
each = pytest.mark.parametrize("hostile", CORPUS, ids=lambda hostile: hostile.name)
short = pytest.mark.parametrize(
    "hostile", [entry for entry in CORPUS if not entry.long], ids=lambda hostile: hostile.name
)
EXTENSIONS = [
    "admonition",
    "attr_list",
    "md_in_html",
    "tables",
    "toc",
    "footnotes",
    "abbr",
    "def_list",
    "meta",
]


def test_the_corpus_is_large_and_its_names_are_distinct() -> None:
    assert len(CORPUS) >= 120
    assert len({entry.name for entry in CORPUS}) == len(CORPUS)
    assert sum(entry.long for entry in CORPUS) >= 10


@each
def test_between_tags_it_is_text(hostile: Hostile) -> None:
    escaped = escape.text(hostile.text)
    found = read(f"<p>{escaped}</p>")
    assert found.names == {"p"}
    assert found.text == visible(hostile.text)
    assert "\n" not in escaped


@each
def test_in_an_attribute_it_stays_in_the_attribute(hostile: Hostile) -> None:
    for quote in ('"', "'"):
        found = read(f"<i title={quote}{escape.attribute(hostile.text)}{quote}>x</i>")
        assert found.tags == [("i", {"title": visible(hostile.text)})]


@each
def test_as_an_address_it_leads_nowhere_or_to_the_web(hostile: Hostile) -> None:
    (found,) = read(f'<a href="{escape.url(hostile.text)}">x</a>').tags
    assert set(found[1]) == {"href"}
    address = found[1]["href"]
    assert not LIVE_ADDRESS.match(address)
    assert not address.startswith(("//", "\\", "/\\"))
    assert address.isascii()


@each
def test_json_in_a_script_cannot_end_the_script(hostile: Hostile) -> None:
    dumped = escape.json_script({"value": hostile.text, hostile.text: [1, None]})
    assert not set(dumped) & {"<", ">", "&", "\u2028", "\u2029"}
    assert json.loads(dumped)["value"] == hostile.text
    dumped.encode()


@short
def test_in_a_markdown_line_it_is_text_under_any_extension(hostile: Hostile) -> None:
    line = escape.markdown_text(hostile.text)
    shown = shortened(hostile.text, 1000)
    assert "\n" not in line
    found = read(markdown.markdown(f"x {line} y", extensions=EXTENSIONS))
    assert found.tags == [("p", {})]
    assert found.text == f"x {shown} y"


@short
def test_it_cannot_begin_a_block_or_front_matter(hostile: Hostile) -> None:
    line = escape.markdown_text(hostile.text)
    found = read(markdown.markdown(f"{line}\n\nnext", extensions=EXTENSIONS))
    assert found.names == {"p"}
    heading = read(markdown.markdown(f"# {line} .", extensions=EXTENSIONS))
    assert [tag for tag, _ in heading.tags] == ["h1"]
    assert not heading.live()


@each
def test_front_matter_holds_it_as_one_escaped_value(hostile: Hostile) -> None:
    block = escape.front_matter({"title": hostile.text, "search": {"exclude": True}})
    first, body, rest = block.split("---\n")
    values = yaml.safe_load(body)
    assert (first, rest) == ("", "")
    assert set(values) == {"title", "search"}
    assert not set(values["title"]) & {"<", ">", '"'}
    assert html.unescape(values["title"]) == shortened(hostile.text, 1000)


@each
def test_plotly_shows_it_literally(hostile: Hostile) -> None:
    shown = escape.plotly_text(hostile.text)
    assert not set(shown) & {"<", ">"}
    assert "%{" not in shown
    assert html.unescape(shown) == shortened(hostile.text, 300)


@each
def test_as_a_document_only_harmless_tags_remain(hostile: Hostile) -> None:
    began = time.monotonic()
    rendered = escape.untrusted_markdown(hostile.text)
    assert time.monotonic() - began < SECONDS + 60
    found = read(rendered)
    assert found.names <= TAGS | {"div", "p", "pre"}
    assert not found.live()
    assert "\n" not in rendered
    allowed = {"href", "title", "rel", "start", "class", "tabindex"}
    assert all(set(attributes) <= allowed for _, attributes in found.tags)
    assert all(address.startswith(("https://", "http://", "mailto:")) for address in found.values("href"))


@each
def test_as_a_patch_it_is_lines_of_text(hostile: Hostile) -> None:
    found = read(escape.diff(hostile.text))
    assert found.names <= {"div", "details", "summary", "code", "span", "pre", "p"}
    assert not found.live()
