"""Tests of generators.tables."""
