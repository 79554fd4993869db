"""Means: every mean score, share and amount per task on a page, and whether its sureness stands beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.generators.pages.dollars import Node, tree

NAME = re.compile(
    r"^(mean score( gained)?|resolved|score, failed trials as zero|total$|"
    r"(cost|minutes|tokens|turns) per task|"
    r"(cost|mean score), (trivial|low|medium|high)|mean cost per task, usd)\b(?!, diff)",
    re.I,
)
"""Heading of a column, or name of a tile or of a row of figures, that holds a mean."""
COUNT = re.compile(r"\d+ of \d+")
SURE = re.compile(r"95 %: |no interval: ")
UNKNOWN = re.compile(
    r"^\s*(not known|not priced|unknown|none\b|no trials|no point|no results|not measured)", re.I
)
SPOKEN = re.compile(r"\bscore \d+\.\d \(")
NUMBER = re.compile(r"\d")
BESIDE = re.compile(r"how sure|n of m|scored|tasks", re.I)
"""Columns of the same row that may say what a mean cell leaves out."""


@dataclass(frozen=True)
class Mean:
    """A mean as written, with the text that belongs to it."""

    name: str
    written: str
    near: str

    @property
    def complete(self) -> bool:
        """Whether n of m and an interval, or why there is none, stand with it."""
        return bool(COUNT.search(self.near)) and bool(SURE.search(self.near))


def means(html: str) -> list[Mean]:
    """Every known mean of a page: in tables, in tiles and in what a screen reader says of a chart."""
    root = tree(html)
    return [*_of_tables(root), *_of_tiles(root), *_spoken(root)]


def _of_tables(root: Node) -> Iterator[Mean]:
    for table in (node for node in root.walk() if node.tag == "table"):
        rows = [node for node in table.walk() if node.tag == "tr"]
        if not rows:
            continue
        heads = [_shown(cell) for cell in _cells(rows[0])]
        for row in rows[1:]:
            cells = _cells(row)
            if len(cells) == len(heads):
                yield from _of_row(heads, cells)


def _of_row(heads: list[str], cells: list[Node]) -> Iterator[Mean]:
    texts = [_shown(cell) for cell in cells]
    beside = " ".join(text for head, text in zip(heads, texts, strict=True) if BESIDE.search(head))
    named = bool(heads) and heads[0] == "Figure" and bool(NAME.match(texts[0]))
    for place, (head, text) in enumerate(zip(heads, texts, strict=True)):
        mean = NAME.match(head) or (named and head == "Value")
        if place and mean and NUMBER.search(text) and not UNKNOWN.match(text):
            yield Mean(head, text, f"{text} {beside}")


def _of_tiles(root: Node) -> Iterator[Mean]:
    for node in root.walk():
        if node.tag == "li" and node.above("ul") and "hm-tiles" in _class(node.above("ul")):
            parts = [part for part in node.parts if isinstance(part, Node)]
            if len(parts) > 1 and NAME.match(_shown(parts[0])) and NUMBER.search(_shown(parts[1])):
                yield Mean(_shown(parts[0]), _shown(parts[1]), _shown(node))


def _spoken(root: Node) -> Iterator[Mean]:
    for node in root.walk():
        label = node.attributes.get("aria-label", "")
        if SPOKEN.search(label):
            yield Mean("aria-label", label, label)


def _class(node: Node | None) -> str:
    return node.attributes.get("class", "") if node else ""


def _cells(row: Node) -> list[Node]:
    return [part for part in row.parts if isinstance(part, Node) and part.tag in {"td", "th"}]


def _shown(node: Node) -> str:
    """The text of an element, without the words that only hover shows."""
    texts = [part if isinstance(part, str) else _shown(part) for part in node.parts]
    return " ".join(" ".join(texts).split())
