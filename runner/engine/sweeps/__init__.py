"""Sweeps: throughput of a model server over concurrency, from the flags of ``invoke sweep`` to a record."""
