"""The results store on disk: paths, atomic writes, ledger, integrity."""

from runner.store.component import below, component
from runner.store.finding import Finding
from runner.store.integrity import verify
from runner.store.layout import StoreRoots
from runner.store.results import ResultsStore, StoredTrial
from runner.store.slug import model_slug, slug, wire_id

__all__ = [
    "Finding",
    "ResultsStore",
    "StoreRoots",
    "StoredTrial",
    "below",
    "component",
    "model_slug",
    "slug",
    "verify",
    "wire_id",
]
