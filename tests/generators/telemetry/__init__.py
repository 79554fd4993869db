"""Tests of the telemetry page."""
