"""Dollars: every amount of money on a built page with the text that stands near it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

AMOUNT = re.compile(
    r"\$\s?\d|\b(?:USD|US dollars?)\s?\d|(?<![\d.,])\d[\d.,]*\s?(?:USD|US dollars?|dollars?)\b"
)
BASIS = re.compile(
    r"metered|price[ -]table|hardware[ -]derived|credit|notional|price book|no cost by design|basis and day",
    re.I,
)
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b|day of the prices not known|day not known|no cost by design")
NEAR = ("tr", "li", "p", "dt", "dd", "figure", "figcaption", "caption", "summary", "h1", "h2", "h3", "text")
"""What holds an amount and what belongs to it; ``text`` is a label in a drawing."""
WIDER = {"dd": ("dl", "div"), "dt": ("dl", "div"), "text": ("figure",), "li": (), "p": ("figure",)}
VOID = {
    "br",
    "hr",
    "img",
    "input",
    "meta",
    "link",
    "col",
    "wbr",
    "path",
    "circle",
    "line",
    "rect",
    "use",
    "polyline",
}


@dataclass
class Node:
    """An element with what it holds, in order."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    parent: Node | None = None
    parts: list[Node | str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """All text, and what only those hear who cannot see; asked for once the page is read."""
        said = " ".join(self.attributes.get(name, "") for name in ("aria-label", "title"))
        return said + " " + " ".join(part if isinstance(part, str) else part.text for part in self.parts)

    def above(self, *tags: str) -> Node | None:
        """The nearest element around this one, or itself, with one of these tags."""
        node: Node | None = self
        while node is not None and node.tag not in tags:
            node = node.parent
        return node

    def walk(self) -> Iterator[Node]:
        """This element and all below it."""
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.walk()


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("root")
        self.here = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.parts.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.parts.append(Node(tag, {name: value or "" for name, value in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        node = self.here.above(tag)
        if node is not None and node.parent is not None:
            self.here = node.parent

    def handle_data(self, data: str) -> None:
        self.here.parts.append(data)


def tree(html: str) -> Node:
    """The elements of a page."""
    reader = _Tree()
    reader.feed(html)
    reader.close()
    return reader.root


@dataclass(frozen=True)
class Amount:
    """An amount as written, and the text near it: its row, table, tile, paragraph or drawing."""

    written: str
    near: str

    @property
    def complete(self) -> bool:
        """Whether what it rests on and the day of its prices stand near it."""
        return bool(BASIS.search(self.near)) and bool(DAY.search(self.near))


def amounts(html: str) -> list[Amount]:
    """Every amount of money in the text or the labels of a page."""
    found = []
    for node in tree(html).walk():
        own = " ".join(part for part in node.parts if isinstance(part, str))
        own += " " + " ".join(text for name, text in node.attributes.items() if _said(name))
        if AMOUNT.search(own) and node.tag not in {"script", "style"}:
            found.append(Amount(own.strip()[:120], _near(node)))
    return found


def _said(name: str) -> bool:
    """Whether people or scripts read what stands in this attribute."""
    return name in {"aria-label", "title", "alt", "placeholder", "content"} or name.startswith("data-")


def _near(node: Node) -> str:
    holder = node.above(*NEAR) or node
    parts = [holder.text]
    table = holder.above("table")
    if table is not None:
        # The headings of the columns and the name of the table hold for every row.
        heads = [part for part in table.parts if isinstance(part, Node) and part.tag in {"thead", "caption"}]
        parts += [head.text for head in heads]
        parts.append(table.parent.attributes.get("aria-label", "") if table.parent else "")
    for tag in WIDER.get(holder.tag, ()):
        wider = holder.above(tag)
        parts += [wider.text] if wider is not None else []
    figure = holder.above("figure")
    parts += [figure.text] if figure is not None else []
    return " ".join(parts)
