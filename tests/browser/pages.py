"""Pages of the browser tests: charts and a table as the generators write them."""

from __future__ import annotations

from generators.charts import Chart, pareto_chart, radar_chart
from generators.charts.table import Column, Entry, data_table
from tests.generators.charts.examples import fleet, profile

AXES = ("completeness", "correctness", "specificity", "clarity")


def pareto() -> Chart:
    """The Pareto chart of the test pages."""
    return pareto_chart(fleet(), slug="pareto-pi-demo", title="Cost and quality", scope="pi · swe3 · demo")


def radar() -> Chart:
    """The radar of the test pages."""
    series = [profile("claude-opus-5", 21, 20, 18, 22), profile("glm-5.2", 18, None, 15, 19)]
    return radar_chart(
        series,
        axes=AXES,
        maximum=25,
        slug="radar-pi-demo",
        title="Quality by criterion",
        scope="pi · swe3 · demo",
    )


def chart_pages() -> dict[str, str]:
    """A home page without charts, a page with both, a page with a table, and a page per cell."""
    files = {
        "index.md": "# Home\n\n[Board](board/index.md), [table](table.md)\n",
        "table.md": f"# Table\n\n{_table()}\n",
        "board/index.md": "\n\n".join(
            [
                "# Board",
                str(pareto().html("pareto.json")),
                str(radar().html("radar.json")),
                "[Home](../index.md)\n",
            ]
        ),
        "board/pareto.json": pareto().json(),
        "board/radar.json": radar().json(),
    }
    for point in fleet():
        files[f"board/cells/{point.label}.md"] = f"# Cell {point.label}\n\n[Board](../index.md)\n"
    return files


def _table() -> str:
    columns = [Column("Model"), Column("Score", numeric=True), Column("Cost", numeric=True)]
    rows = [
        ("m10", 60.0, 1.0),
        ("m9", None, 12.0),
        ("m2", 75.5, None),
        ("m1", 9.0, 0.5),
        ("m20", 100.0, 3.0),
        ("M3", 9.5, 100.0),
        ("m4", None, None),
    ]
    return str(
        data_table(
            columns,
            [
                [Entry(n), Entry("-" if s is None else str(s), s), Entry("-" if c is None else f"${c}", c)]
                for n, s, c in rows
            ],
            caption="Models",
        )
    )
