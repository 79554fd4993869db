"""Tests of runner.engine.isolation."""
