"""Tests of runner.importers."""
