"""Tests of runner.costs."""
