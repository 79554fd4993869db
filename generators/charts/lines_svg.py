"""Lines SVG: the static drawing of lines along one axis, one for wide and one for narrow pages."""

from __future__ import annotations

from markupsafe import Markup

from generators.charts.axis import Axis
from generators.charts.frame import Frame
from generators.charts.lines_plan import Line, LinesPlan
from generators.charts.series import series_class
from generators.charts.svg import text_at
from generators.charts.symbol import path, short, symbol_for
from generators.escape.html import attribute, text

WIDE = Frame(width=720, height=330, left=66, right=16, top=12, bottom=50)
NARROW = Frame(width=360, height=280, left=54, right=10, top=10, bottom=46)
RADIUS = 4.0
NAMED_TICKS, NAMED_TICKS_NARROW = 6, 3


def lines_svg(plan: LinesPlan, *, title: str) -> Markup:
    """Both drawings; a style sheet shows the one that fits."""
    return _drawing(plan, WIDE, title, "wide") + _drawing(plan, NARROW, title, "narrow")


def stretches(values: tuple[float | None, ...]) -> list[list[int]]:
    """Unbroken stretches of known values, as indices."""
    found: list[list[int]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            found.append([])
        else:
            found[-1].append(index)
    return [stretch for stretch in found if stretch]


def tick_text(value: float, prefix: str) -> str:
    """A tick of the value axis: short, with thousands as k."""
    written = f"{value / 1000:g}k" if abs(value) >= 10_000 else f"{value:g}"
    return f"{prefix}{written}"


def _drawing(plan: LinesPlan, frame: Frame, title: str, kind: str) -> Markup:
    x_axis, y_axis = plan.x_axis, plan.y_axis
    marks = Markup("").join(
        _line(plan, index, line, frame, x_axis, y_axis) for index, line in enumerate(plan.lines)
    )
    return Markup(
        '<svg class="hm-svg hm-svg--{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>'
    ).format(
        kind,
        short(frame.width),
        short(frame.height),
        attribute(
            f"{title}: {', '.join(line.label for line in plan.lines)}; the table below has the numbers"
        ),
        _axes(plan, frame, x_axis, y_axis),
        marks,
    )


def _axes(plan: LinesPlan, frame: Frame, x_axis: Axis, y_axis: Axis) -> Markup:
    plot = frame.plot
    grid, labels = [], []
    for tick, written in _x_ticks(plan, frame, x_axis):
        x = short(frame.x(x_axis, tick))
        grid.append(f"M{x} {short(plot.top)}V{short(plot.bottom)}")
        labels.append(text_at(x, short(plot.bottom + 16), "hm-x", written))
    for tick in y_axis.ticks:
        y = frame.y(y_axis, tick)
        grid.append(f"M{short(plot.left)} {short(y)}H{short(plot.right)}")
        labels.append(text_at(short(plot.left - 6), short(y + 4), "hm-y", tick_text(tick, plan.prefix)))
    across = short((plot.left + plot.right) / 2)
    labels.append(text_at(across, short(frame.height - 6), "hm-x hm-axis", plan.across))
    up = Markup('<text class="hm-x hm-axis" transform="translate(12 {})rotate(-90)">{}</text>')
    labels.append(up.format(short((plot.top + plot.bottom) / 2), text(plan.up)))
    drawn = Markup('<path class="hm-grid" d="{}"/>').format("".join(grid))
    return drawn + _marked(plan, frame, x_axis) + Markup("").join(labels)


def _marked(plan: LinesPlan, frame: Frame, x_axis: Axis) -> Markup:
    """A line and a word at each place to point out; words at one height would lie on each other."""
    plot, found = frame.plot, Markup("")
    for number, (place, says) in enumerate(plan.marked):
        x = short(frame.x(x_axis, place))
        line = f"M{x} {short(plot.top)}V{short(plot.bottom)}"
        found += Markup('<path class="hm-grid hm-place" d="{}"/>').format(line)
        found += text_at(x, short(plot.top + 10 + 14 * number), "hm-x hm-label", says)
    return found


def _x_ticks(plan: LinesPlan, frame: Frame, x_axis: Axis) -> list[tuple[float, str]]:
    if not plan.names:
        return [(tick, f"{tick:g}") for tick in x_axis.ticks]
    chosen = plan.named_ticks(NAMED_TICKS_NARROW if frame is NARROW else NAMED_TICKS)
    return [(plan.places[index], plan.names[index]) for index in chosen]


def _line(plan: LinesPlan, index: int, line: Line, frame: Frame, x_axis: Axis, y_axis: Axis) -> Markup:
    spots = {
        number: (frame.x(x_axis, plan.places[number]), frame.y(y_axis, value))
        for number, value in enumerate(line.values)
        if value is not None
    }
    drawn = "".join(
        "M" + "L".join(f"{short(spots[number][0])} {short(spots[number][1])}" for number in stretch)
        for stretch in stretches(line.values)
        if len(stretch) > 1
    )
    css = series_class(index)
    marks = "".join(path(symbol_for(index), x, y, RADIUS) for x, y in spots.values())
    return Markup('<path class="{} hm-line hm-dash-{}" d="{}"/><path class="{}" d="{}"/>').format(
        css, index, drawn, css, marks
    )
