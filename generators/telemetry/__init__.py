"""Telemetry: one self-contained page of what a model server counted of itself, from a collector's archive."""
