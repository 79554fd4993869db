"""Charts: figures as static SVG, Plotly JSON and data table, all three from the same numbers."""

from __future__ import annotations

from generators.charts.chart import Chart
from generators.charts.pareto import ParetoPoint, pareto_chart
from generators.charts.radar import RadarSeries, radar_chart

__all__ = ["Chart", "ParetoPoint", "RadarSeries", "pareto_chart", "radar_chart"]
