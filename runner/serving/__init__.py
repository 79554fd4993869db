"""Serving: what a model server counts of itself, collected over time, read back, and swept under load."""
