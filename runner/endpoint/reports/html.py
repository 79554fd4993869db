"""HTML: a report as one page that needs nothing from anywhere and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from runner.endpoint.reports.table import Table
from runner.endpoint.reports.tables import Report

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .3rem .7rem; }
th, td { text-align: left; vertical-align: top; white-space: pre-line; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; }
.flag { border-left: .25rem solid #b45309; padding-left: .7rem; }
"""


def html(report: Report) -> str:
    """The whole page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_text(report.title)}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>{_text(report.title)}</h1><dl>"
    for name, value in report.facts:
        yield f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>"
    yield "</dl>"
    for flag in report.flags:
        yield f'<p class="flag">{_text(flag)}</p>'
    for each in report.tables:
        yield from _section(each)
    yield "</body></html>"


def _section(found: Table) -> Iterator[str]:
    yield f"<h2>{_text(found.title)}</h2>"
    if found.note:
        yield f"<p>{_text(found.note)}</p>"
    yield '<div class="scroll" tabindex="0"><table><thead><tr>'
    yield "".join(f'<th scope="col">{_text(name)}</th>' for name in found.head)
    yield "</tr></thead><tbody>"
    for row in found.rows:
        yield "<tr>" + "".join(f"<td>{_text(value)}</td>" for value in row) + "</tr>"
    yield "</tbody></table></div>"


def _text(text: str) -> str:
    visible = "".join(letter if letter == "\n" or letter >= " " else "\ufffd" for letter in text)
    return escape(visible, quote=True)
