"""Importer of published results: one JSON file per run or per throughput sweep, turned into records."""

from runner.importers.published.folders import import_published

__all__ = ["import_published"]
