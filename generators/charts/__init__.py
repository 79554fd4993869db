"""Figures: Plotly JSON, static SVG and data table of one chart."""
