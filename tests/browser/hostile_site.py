"""Hostile site: every string of the corpus in every context of a page."""

from __future__ import annotations

from dataclasses import dataclass

from generators import escape
from generators.charts import pareto_chart, radar_chart
from tests.generators.charts.examples import point, profile
from tests.hostile import Hostile, corpus

STRINGS_A_PAGE = 12
# Text that is long is hostile by its length: a page of its own keeps the others quick.
CHART_STRINGS = 20


@dataclass(frozen=True)
class HostilePages:
    """Sources by file name, and the addresses of the pages below the site's root."""

    files: dict[str, str]
    addresses: tuple[str, ...]
    chart_addresses: tuple[str, ...]


def hostile_pages() -> HostilePages:
    """Pages of several strings each, a page per long string, and pages of charts."""
    strings = corpus()
    short = [entry for entry in strings if not entry.long]
    groups = [short[start : start + STRINGS_A_PAGE] for start in range(0, len(short), STRINGS_A_PAGE)]
    groups += [[entry] for entry in strings if entry.long]
    files = {"index.md": "# Home\n"}
    for number, group in enumerate(groups):
        files[f"text/{number}.md"] = _page(group)
    charts = [short[start : start + CHART_STRINGS] for start in range(0, len(short), CHART_STRINGS)]
    for number, group in enumerate(charts):
        files.update(_chart_page(number, group))
    return HostilePages(
        files,
        tuple(f"text/{number}/" for number in range(len(groups))),
        tuple(f"charts/{number}/" for number in range(len(charts))),
    )


def _page(group: list[Hostile]) -> str:
    together = " ".join(entry.text for entry in group)
    parts = [escape.front_matter({"title": together, "description": together})]
    parts.append(f"# {escape.markdown_text(together, limit=400)}\n")
    parts += [_section(number, entry) for number, entry in enumerate(group)]
    return "\n".join(parts)


def _section(number: int, entry: Hostile) -> str:
    raw = entry.text
    line = escape.markdown_text(raw)
    return "\n".join(
        [
            f"## {line}\n",
            f"Paragraph {line} and **bold {line}** and [label {line}](../index.md)\n",
            f"- item {line}\n",
            f"> {line}\n",
            f"| a | b |\n|---|---|\n| {line} | x |\n",
            f"<p>{escape.text(raw)}</p>\n",
            # Length is no danger in an attribute, and a page of megabytes takes its time.
            *([] if entry.long else _attributes(raw)),
            f"{escape.untrusted_markdown(raw, id_prefix=f'doc{number}-')}\n",
            f"{escape.diff(raw)}\n",
            '<div><script type="application/json" class="data">'
            f"{escape.json_script({'raw': raw})}</script></div>\n",
        ]
    )


def _attributes(raw: str) -> list[str]:
    return [
        f"<p title=\"{escape.attribute(raw)}\" data-value='{escape.attribute(raw)}'>attribute</p>\n",
        f'<p><a href="{escape.url(raw)}">address</a></p>\n',
        f'<div><svg viewBox="0 0 9 9" aria-label="{escape.attribute(raw)}">'
        f"<text>{escape.text(raw)}</text></svg></div>\n",
    ]


def _chart_page(number: int, group: list[Hostile]) -> dict[str, str]:
    points = [
        point(
            entry.text,
            1.0 + index,
            40.0 + index * 2,
            harness=entry.text,
            hosting=entry.text,
            note=entry.text,
            href=entry.text,
            on_basis=True,
        )
        for index, entry in enumerate(group)
    ]
    together = " ".join(entry.text for entry in group)
    pareto = pareto_chart(points, slug=f"p{number}", title=together, scope=f"x {together}", subset=together)
    series = [profile(entry.text, 1, 2, 3) for entry in group[:4]]
    axes = tuple(entry.text for entry in (group * 3)[-3:])
    radar = radar_chart(
        series, axes=axes, maximum=3, slug=f"r{number}", title=together, scope=f"x {together}"
    )
    return {
        f"charts/{number}.md": f"# Charts\n\n{pareto.html('p.json')}\n\n{radar.html('r.json')}\n",
        f"charts/{number}/p.json": pareto.json(),
        f"charts/{number}/r.json": radar.json(),
    }
