"""Embedded model server: plays recorded model turns over the wire protocols that agents speak."""

from runner.replay.library import open_library, recorded_models
from runner.replay.server import ReplayServer, parse_faults, serve
from runner.replay.service import ServiceTimes, parse_service
from runner.replay.stand_in import STAND_IN
from runner.replay.tally import RunCount
from runner.replay.turns import Tokens

__all__ = [
    "STAND_IN",
    "ReplayServer",
    "RunCount",
    "ServiceTimes",
    "Tokens",
    "open_library",
    "parse_faults",
    "parse_service",
    "recorded_models",
    "serve",
]
