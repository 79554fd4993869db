"""Legend: what colours, symbols and lines of a chart mean, as HTML that serves both drawings."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from generators.charts.symbol import path
from generators.escape.characters import shortened
from generators.escape.html import text
from generators.escape.link import url

MEANING_LIMIT = 200


@dataclass(frozen=True)
class Key:
    """One entry: a symbol or a line in a class of the style sheet, and its meaning."""

    meaning: str
    css: str
    symbol: str = ""
    href: str = ""


def legend(keys: list[Key]) -> Markup:
    """The entries as a list."""
    items = Markup("").join(Markup("<li>{}{}</li>").format(_swatch(key), _meaning(key)) for key in keys)
    return Markup('<ul class="hm-legend">{}</ul>').format(items)


def _swatch(key: Key) -> Markup:
    if "hm-arc" in key.css:
        arc = Markup('<path class="{}" d="M14 1A7 7 0 1 1 7 8"/>').format(key.css)
        return Markup('<svg class="hm-swatch" viewBox="0 0 28 16" aria-hidden="true">{}</svg>').format(arc)
    line = Markup('<path class="{}" d="M1 8H27"/>').format(key.css) if "hm-off" not in key.css else Markup("")
    drawn = line if not key.symbol or "hm-line" in key.css else Markup("")
    if key.symbol:
        marker = key.css.replace("hm-line", "").replace("hm-dash", "hm-nodash")
        drawn += Markup('<path class="{}" d="{}"/>').format(marker.strip(), path(key.symbol, 14, 8, 5))
    return Markup('<svg class="hm-swatch" viewBox="0 0 28 16" aria-hidden="true">{}</svg>').format(drawn)


def _meaning(key: Key) -> Markup:
    meaning = text(shortened(key.meaning, MEANING_LIMIT))
    if not key.href:
        return meaning
    return Markup('<a href="{}">{}</a>').format(url(key.href), meaning)
