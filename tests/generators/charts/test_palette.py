"""Colours: readable in both schemes, and the same in Python and style sheet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generators.charts.palette import DARK, LIGHT
from generators.charts.wording import basis_colour
from runner.records.cost import CostBasis

CSS = Path(__file__).parents[3] / "site_src" / "assets" / "extra.css"
SCHEMES = {"default": LIGHT, "slate": DARK}
TEXT = ("--hm-muted", "--hm-ink")


def luminance(colour: str) -> float:
    """Relative luminance of a colour. Source: WCAG 2.2, definition of relative luminance."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21. Source: WCAG 2.2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def declared(scheme: str) -> dict[str, str]:
    (block,) = re.findall(
        rf'\[data-md-color-scheme="{scheme}"\] {{([^}}]*--hm-paper[^}}]*)}}', CSS.read_text(), re.S
    )
    return dict(re.findall(r"(--hm-[a-z0-9-]+): (#[0-9a-f]{6});", block))


def test_contrast_is_computed_as_defined() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_style_sheet_declares_the_palette(scheme: str) -> None:
    assert SCHEMES[scheme].items() <= declared(scheme).items()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_mark_and_line_stands_out_from_the_page(scheme: str) -> None:
    palette = SCHEMES[scheme]
    for name, colour in palette.items():
        if name not in ("--hm-grid", "--hm-paper"):
            wanted = 4.5 if name in TEXT else 3.0
            assert contrast(colour, palette["--hm-paper"]) >= wanted, name


@pytest.mark.parametrize("scheme", SCHEMES)
def test_words_in_badges_and_patches_can_be_read(scheme: str) -> None:
    colours = declared(scheme)
    for name in ("good", "warn", "bad"):
        assert contrast(colours[f"--hm-{name}"], colours[f"--hm-{name}-soft"]) >= 4.5
        assert contrast(colours[f"--hm-{name}"], colours["--hm-soft"]) >= 4.5
    for name in ("muted", "ink", "basis-3"):
        assert contrast(colours[f"--hm-{name}"], colours["--hm-soft"]) >= 4.5


def test_every_basis_has_a_colour_of_its_own() -> None:
    variables = [basis_colour(str(basis)) for basis in CostBasis] + [basis_colour("something else")]
    assert len(set(variables)) == len(variables)
    for palette in SCHEMES.values():
        assert len({palette[variable] for variable in variables}) == len(variables)
