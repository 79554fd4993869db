"""Tests: one folder per package, each test named as the sentence it proves."""
