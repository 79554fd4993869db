"""Tests of reports of endpoint benchmarks."""
