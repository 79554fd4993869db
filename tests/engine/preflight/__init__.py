"""Tests of runner.engine.preflight."""
