"""How judges are tried out on submissions of our own, and what is kept of it."""

from runner.engine.proving.docket import Docket, Entry, make_docket
from runner.engine.proving.making import make_proof, settle_proofs

__all__ = ["Docket", "Entry", "make_docket", "make_proof", "settle_proofs"]
