"""Tests of suites whose cases come from files."""
