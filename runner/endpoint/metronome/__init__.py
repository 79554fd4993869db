"""Metronome: a model server with known delays that notes when it truly sent what, to measure clients with."""
