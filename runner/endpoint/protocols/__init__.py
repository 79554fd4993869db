"""Protocols: what a request and an answer look like in each API."""
