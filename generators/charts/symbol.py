"""Symbols: marker shapes that the static and the interactive drawing share."""

from __future__ import annotations

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "x", "pentagon")
"""Names as Plotly knows them, in the order in which harnesses or series get them."""

_OUTLINES: dict[str, tuple[tuple[float, float], ...]] = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "triangle-up": ((0, -1.2), (1.15, 0.8), (-1.15, 0.8)),
    "triangle-down": ((0, 1.2), (1.15, -0.8), (-1.15, -0.8)),
    "pentagon": ((0, -1.15), (1.1, -0.35), (0.68, 0.95), (-0.68, 0.95), (-1.1, -0.35)),
    "cross": (
        *((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4)),
        *((0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ),
    "x": (
        *((0, -0.55), (0.65, -1.2), (1.2, -0.65), (0.55, 0), (1.2, 0.65), (0.65, 1.2)),
        *((0, 0.55), (-0.65, 1.2), (-1.2, 0.65), (-0.55, 0), (-1.2, -0.65), (-0.65, -1.2)),
    ),
}


def symbol_for(index: int) -> str:
    """The symbol of the n-th thing that is told apart by shape; they repeat after eight."""
    return SYMBOLS[index % len(SYMBOLS)]


def path(symbol: str, x: float, y: float, radius: float) -> str:
    """SVG path data of a symbol around a point."""
    if symbol == "circle":
        arc = f"a{radius:g} {radius:g} 0 1 0 "
        return f"M{short(x - radius)} {short(y)}{arc}{2 * radius:g} 0{arc}{-2 * radius:g} 0z"
    corners = [f"{short(x + dx * radius)} {short(y + dy * radius)}" for dx, dy in _OUTLINES[symbol]]
    return "M" + "L".join(corners) + "z"


def short(number: float) -> str:
    """A coordinate with one decimal at most."""
    rounded = round(number, 1)
    return f"{rounded:g}" if rounded else "0"
