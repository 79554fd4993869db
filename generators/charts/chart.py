"""Chart: one figure in its three forms, and the HTML that holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from generators.escape.html import Json, attribute, json_file, text
from generators.escape.link import url
from runner.errors import PublishError

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class Chart:
    """A chart of a page.

    `figure` is the Plotly figure as plain JSON values, `static` the inline SVG, `table` the data table: all
    three show the same numbers.
    """

    slug: str
    kind: str
    title: str
    scope: str
    figure: Mapping[str, Json]
    static: Markup
    legend: Markup
    table: Markup
    notes: tuple[Markup, ...] = ()
    subset: str = ""
    interactive: bool = True
    scale: str = ""

    def __post_init__(self) -> None:
        if not _SLUG.fullmatch(self.slug):
            raise PublishError(
                "a chart's slug may hold only lower-case letters, digits, dots, hyphens and underscores",
                where=repr(self.slug),
                remedy="build it from harness, skill and dataset slugs",
            )
        if not self.scope.strip():
            raise PublishError("a chart must say which harness, skill and dataset it shows", where=self.slug)

    def json(self) -> str:
        """The Plotly figure as deterministic JSON text, for the file that `html` points at."""
        return json_file(self.figure)

    def html(self, json_href: str) -> Markup:
        """The figure as one line of HTML, complete without scripts; `json_href` leads to the JSON file."""
        live = Markup(' data-chart="{}" data-kind="{}" data-scale="{}"').format(
            url(json_href), attribute(self.kind), attribute(self.scale)
        )
        return Markup(
            '<figure class="hm-chart" id="chart-{}"{}>{}{}<div class="hm-chart__stage">{}'
            '<div class="hm-chart__live" aria-hidden="true"></div></div>{}{}'
            '<details class="hm-chart__data"><summary>Data table</summary>{}</details></figure>'
        ).format(
            attribute(self.slug),
            live if self.interactive else "",
            self._caption(),
            self._bar() if self.interactive else "",
            self.static,
            self.legend,
            Markup("").join(Markup('<p class="hm-chart__note">{}</p>').format(note) for note in self.notes),
            self.table,
        )

    def _caption(self) -> Markup:
        subset = (
            Markup(' <span class="hm-badge hm-badge--warn">Subset: {}</span>').format(text(self.subset))
            if self.subset
            else ""
        )
        return Markup("<figcaption><strong>{}</strong> <span>{}</span>{}</figcaption>").format(
            text(self.title), text(self.scope), subset
        )

    def _bar(self) -> Markup:
        scale = Markup(
            '<button type="button" class="hm-button" data-act="scale" aria-pressed="{}" hidden>'
            "Log cost axis</button>"
        ).format("true" if self.scale == "log" else "false")
        return Markup(
            '<div class="hm-chart__bar">{}'
            '<button type="button" class="hm-button" data-act="live" aria-pressed="false" hidden>Interactive'
            '</button><span class="hm-chart__status" role="status"></span></div>'
        ).format(scale if self.scale else "")
