"""Page: the telemetry of an archive as one HTML file that loads nothing and works without scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from markupsafe import Markup

from generators.charts.palette import DARK, LIGHT
from generators.escape.characters import shortened, visible
from generators.escape.html import Json, json_script, text
from generators.escape.templates import environment
from generators.telemetry.drawing import Drawing, draw, legend, moment, number
from generators.telemetry.panels import Bar, Panel, Telemetry, Tile

TEMPLATES = Path(__file__).parent.parent / "templates" / "telemetry"
UNKNOWN = "not told"
SHOWN = 200


def render(found: Telemetry, name: str) -> str:
    """The page of ``found``; ``name`` is that of the archive."""
    script = (TEMPLATES / "telemetry.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    sections = [
        _section("Token throughput", found.throughput, found),
        _section("Scheduler and cache", found.scheduler, found),
        _section("Latency, mean of each span of time", found.latency, found),
    ]
    template = environment(TEMPLATES, _finalize).get_template("page.html.j2")
    return template.render(
        name=name,
        models=found.models,
        traffic=found.traffic,
        facts=list(_facts(found)),
        tiles=[_tile(each) for each in found.tiles],
        sections=sections,
        ends=_bars(found.ends),
        # Both are files of ours, which no archive has a part in.
        style=Markup(_style()),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'",
        data=json_script(_data(found)),
    )


def _finalize(value: object) -> object:
    """Everything that a template writes passes the escape for text first."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return text(shortened(value, SHOWN))
    return value


def _style() -> str:
    light = "".join(f"{name}:{value};" for name, value in LIGHT.items())
    dark = "".join(f"{name}:{value};" for name, value in DARK.items())
    own = (TEMPLATES / "telemetry.css").read_text(encoding="utf-8")
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n{own}"
    )


def _facts(found: Telemetry) -> Iterator[tuple[str, str]]:
    scrapes = found.scrapes
    if found.begun:
        yield "From", _stamp(found.begun)
        yield "To", _stamp(found.begun + found.span)
    asked = scrapes.answered + scrapes.failed
    yield "Scrapes answered", f"{scrapes.answered:,} of {asked:,}"
    if scrapes.failed:
        yield "Last failure", scrapes.last_error or "no reason kept"
    for session in found.sessions[-4:]:
        end = "" if session.stopped_at else ", ended unexpectedly or still open"
        yield f"Session {session.name}", f"{session.metrics_url} every {session.interval_seconds:g} s{end}"
    if len(found.sessions) > 4:
        yield "Earlier sessions", str(len(found.sessions) - 4)


def _stamp(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _tile(tile: Tile) -> dict[str, str]:
    value = UNKNOWN if tile.value is None else number(tile.value, tile.digits)
    return {
        "title": tile.title,
        "value": value,
        "unit": tile.unit if tile.value is not None else "",
        "note": tile.note,
        "known": "" if tile.value is None else "yes",
    }


def _section(title: str, panels: Sequence[Panel], found: Telemetry) -> dict[str, object]:
    return {"title": title, "panels": [_panel(each, found) for each in panels]}


def _panel(panel: Panel, found: Telemetry) -> dict[str, object]:
    drawing: Drawing | None = draw(panel, found.middles, found.span)
    rows = [
        [moment(at), *(_cell(line.points[index], panel.digits) for line in panel.lines)]
        for index, at in enumerate(found.middles)
        if any(line.points[index] is not None for line in panel.lines)
    ]
    return {
        "title": panel.title,
        "unit": panel.unit,
        "drawing": drawing,
        "legend": legend(panel),
        "heads": ["Time", *(f"{line.name}, {panel.unit}" for line in panel.lines)],
        "rows": rows,
    }


def _cell(value: float | None, digits: int) -> str:
    return UNKNOWN if value is None else number(value, digits)


def _bars(bars: Sequence[Bar]) -> list[dict[str, object]]:
    most = max((each.count for each in bars), default=0.0)
    return [
        {
            "name": each.name,
            "count": number(each.count, 0),
            "share": f"{each.count / most * 100:.1f}" if most else "0",
        }
        for each in bars
    ]


def _data(found: Telemetry) -> Json:
    """What the script needs: times, and values of the lines of each drawn panel."""
    panels = [*found.throughput, *found.scheduler, *found.latency]
    return {
        "span": found.span,
        "middles": [round(each, 3) for each in found.middles],
        "panels": [
            {
                "unit": panel.unit,
                "digits": panel.digits,
                "lines": [
                    {
                        "name": visible(line.name),
                        "points": [None if each is None else round(each, 6) for each in line.points],
                    }
                    for line in panel.lines
                ],
            }
            for panel in panels
            if any(each is not None for line in panel.lines for each in line.points)
        ],
    }
