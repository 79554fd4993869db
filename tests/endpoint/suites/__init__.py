"""Tests of what is asked and how it is scored."""
