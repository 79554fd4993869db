"""Suites: what is asked of a model to measure it, and how its answers are scored."""
