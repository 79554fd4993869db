"""Rendering: a page and its template to the Markdown file that mkdocs reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from generators import escape
from generators.escape.line import FrontMatterValue
from generators.escape.templates import environment
from generators.pages.links import relative

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
BLOCKS = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True)
class Crumb:
    """One step of the way to a page: the text and the source path of the page it leads to."""

    text: str
    page: str


@dataclass(frozen=True)
class Asset:
    """A file beside the pages: its path below the docs folder and its content."""

    path: str
    content: bytes


@dataclass(frozen=True)
class Page:
    """A page before rendering. ``path`` is its source path below the docs folder."""

    path: str
    title: str
    template: str
    description: str
    context: Mapping[str, object] = field(default_factory=dict)
    crumbs: tuple[Crumb, ...] = ()
    in_search: bool = True
    demonstration: bool = False
    assets: tuple[Asset, ...] = ()


class Renderer:
    """Renders pages. Autoescape is on for every template; each value passes the escape of its context."""

    def __init__(self, notice: str = "") -> None:
        """Make one; ``notice`` stands on top of every page."""
        self.notice = notice
        self.environment = environment(TEMPLATES, _finalize)
        self.environment.filters["href"] = lambda raw: escape.url(str(raw))
        self.environment.filters["md"] = lambda raw: Markup(escape.markdown_text(str(raw)))  # noqa: S704
        self.environment.filters["number"] = _data_value

    def render(self, page: Page) -> str:
        """The page's source: front matter, one heading, and blocks of HTML of one line each."""

        def to(target: str, fragment: str = "") -> str:
            """The address of another page, seen from this one."""
            return relative(page.path, target, fragment)

        template = self.environment.get_template(page.template)
        body = template.render(**page.context, page=page, to=to, notice=self.notice)
        front: dict[str, FrontMatterValue] = {
            "title": page.title,
            "description": page.description,
            # The tabs on top hold the whole navigation; a sidebar would repeat one entry of it.
            "hide": {"navigation": True},
        }
        if not page.in_search:
            front["search"] = {"exclude": True}
        return escape.front_matter(front) + "\n" + fold(body) + "\n"


def fold(body: str) -> str:
    """Join the lines of each block, so that Markdown sees one line of HTML and nothing to interpret.

    Blocks are separated by blank lines. Values cannot hold a line break: their escape writes references.
    """
    blocks = (_fold_block(block) for block in BLOCKS.split(body))
    return "\n\n".join(block for block in blocks if block)


def _fold_block(block: str) -> str:
    joined = ""
    for line in block.splitlines():
        part = line.strip()
        tight = not joined or not part or (joined.endswith(">") and part.startswith("<"))
        joined += part if tight else " " + part
    return joined


def _finalize(value: object) -> object:
    """Escape whatever a template prints; numbers and marked-up text included."""
    if isinstance(value, Markup):
        return value
    return escape.text(str(value))


def _data_value(number: float | None) -> str:
    """A number for ``data-value``: shortest exact form, empty when unknown."""
    return "" if number is None else repr(float(number))
