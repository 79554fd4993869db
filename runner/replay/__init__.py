"""Embedded model server that plays recorded model turns."""
