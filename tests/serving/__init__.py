"""Tests of the serving measurements."""
