"""Embedded model server: plays recorded model turns over the wire protocols that agents speak."""

from runner.replay.library import open_library, recorded_models
from runner.replay.server import ReplayServer, parse_faults, serve
from runner.replay.tally import RunCount
from runner.replay.turns import Tokens

__all__ = ["ReplayServer", "RunCount", "Tokens", "open_library", "parse_faults", "recorded_models", "serve"]
