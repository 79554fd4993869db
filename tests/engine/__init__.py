"""Tests of runner.engine."""
