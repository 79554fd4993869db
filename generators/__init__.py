"""Reads the results store and writes the site; never writes results."""
