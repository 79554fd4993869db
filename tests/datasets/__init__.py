"""Tests of runner.datasets."""
