"""Tests of runner.replay."""
