"""Tests of endpoint benchmarks as a command."""
