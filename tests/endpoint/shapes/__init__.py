"""Tests of shapes of endpoint benchmarks."""
