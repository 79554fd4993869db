"""Tests of generators.statistics."""
