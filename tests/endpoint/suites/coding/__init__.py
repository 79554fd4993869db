"""Tests of the coding tasks and of the loop that works on them."""
