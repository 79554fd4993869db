"""Palette: the chart colours of the light and the dark scheme, as the style sheet declares them.

Every colour has a contrast of at least 3:1 against the page of its scheme (text colours 4.5:1). Nothing in a
drawing is told apart by colour alone: symbols, dashes and filling repeat the difference.
"""

from __future__ import annotations

LIGHT = {
    "--hm-basis-0": "#0b5cad",
    "--hm-basis-1": "#0a7565",
    "--hm-basis-2": "#b3430a",
    "--hm-basis-3": "#7b3fa8",
    "--hm-basis-4": "#5f6570",
    "--hm-basis-5": "#87560a",
    "--hm-basis-6": "#a3265c",
    "--hm-series-0": "#0b5cad",
    "--hm-series-1": "#b3430a",
    "--hm-series-2": "#0a7565",
    "--hm-series-3": "#7b3fa8",
    "--hm-combined": "#868d99",
    "--hm-muted": "#5c636e",
    "--hm-ink": "#23262c",
    "--hm-grid": "#dfe2e7",
    "--hm-paper": "#ffffff",
}

DARK = {
    "--hm-basis-0": "#74b5f5",
    "--hm-basis-1": "#4fcdb6",
    "--hm-basis-2": "#f79b62",
    "--hm-basis-3": "#cda2ee",
    "--hm-basis-4": "#aeb4c0",
    "--hm-basis-5": "#e0b45c",
    "--hm-basis-6": "#f18fb6",
    "--hm-series-0": "#74b5f5",
    "--hm-series-1": "#f79b62",
    "--hm-series-2": "#4fcdb6",
    "--hm-series-3": "#cda2ee",
    "--hm-combined": "#7d8595",
    "--hm-muted": "#a7aebb",
    "--hm-ink": "#e3e6ec",
    "--hm-grid": "#3a3f4b",
    "--hm-paper": "#1e2129",
}
