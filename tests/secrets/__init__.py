"""Tests of runner.secrets."""
