"""Tests of runner.harnesses."""
