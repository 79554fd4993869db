"""Tests of statistics of endpoint benchmarks."""
