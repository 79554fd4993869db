"""Frontiers, bounds and comparisons: pure functions over arrays."""
