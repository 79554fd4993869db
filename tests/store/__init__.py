"""Tests of runner.store."""
