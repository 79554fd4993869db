"""Shown: pages of a made store as a reader sees them, tables as rows by heading."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from generators.pages.registry import PAGE_KINDS
from generators.pages.rendering import Page, Renderer
from generators.pages.world import World
from generators.sources import load_worlds
from tests.generators.committed import committed_world
from tests.generators.markup import Read, read
from tests.generators.tables.made import ROOT, Made, write

Row = dict[str, str]


@dataclass(frozen=True)
class Shown:
    """One rendered page."""

    page: Page
    source: str

    @property
    def body(self) -> Read:
        """Tags and text of its HTML blocks."""
        lines = self.source.split("---\n", 2)[2].splitlines()
        return read("\n".join(line for line in lines if line.startswith("<")))

    @property
    def headings(self) -> list[str]:
        """Markdown headings in order, without their marks."""
        lines = self.source.split("---\n", 2)[2].splitlines()
        return [html.unescape(line.lstrip("# ")) for line in lines if line.startswith("#")]

    def table(self, label: str) -> list[Row]:
        """The rows of the table with this label."""
        for found, rows in self.tables():
            if found == label:
                return rows
        raise AssertionError(f"{self.page.path} has no table {label!r}: {self.labels()}")

    def labels(self) -> list[str]:
        """Labels of all tables."""
        return [label for label, _ in self.tables()]

    def tables(self) -> list[tuple[str, list[Row]]]:
        """Every table by its label."""
        pattern = r'<div class="hm-scroll"[^>]*aria-label="([^"]*)"><table class="hm-table"(.*?)</table>'
        found = []
        for label, content in re.findall(pattern, self.source):
            heads, _, rest = content.partition("</thead>")
            names = [_plain(cell) for cell in re.findall(r"<th [^>]*>(.*?)</th>", heads)]
            rows = [
                dict(zip(names, map(_plain, re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)), strict=True))
                for row in re.findall(r"<tr.*?</tr>", rest)
            ]
            found.append((html.unescape(label), rows))
        return found

    def facts(self) -> Row:
        """Names and values of the lists of facts."""
        pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", self.source)
        return {_plain(name): _plain(value) for name, value in pairs}

    def links(self) -> dict[str, str]:
        """Address by link text; of equal texts the last."""
        return {_plain(text): href for href, text in re.findall(r'<a href="([^"]*)">(.*?)</a>', self.source)}


def show(world: World, demonstration: World | None = None) -> dict[str, Shown]:
    """Every page of a world by its path."""
    renderer = Renderer()
    pages = [page for kind in PAGE_KINDS for page in kind.make(world, demonstration)]
    return {page.path: Shown(page, renderer.render(page)) for page in pages}


def pages_of(root: Path, trials: Sequence[Made], datasets: Path = ROOT / "datasets") -> dict[str, Shown]:
    """Every page of a store with these trials."""
    write(root / "results", trials)
    world, demonstration = load_worlds(root / "results", datasets)
    return show(world, demonstration)


@cache
def committed() -> dict[str, Shown]:
    """Every page of the committed results."""
    return show(committed_world())


def _plain(markup: str) -> str:
    spaced = markup.replace("<small", " <small")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", spaced)).split())
