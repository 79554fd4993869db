"""Tests of runner.records."""
