"""Tests of runner.skills."""
