"""Tests of runner.providers."""
