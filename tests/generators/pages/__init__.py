"""Tests of generators.pages."""
