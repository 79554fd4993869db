"""Measures coding harness x model pairs; the only writer of the results store."""
