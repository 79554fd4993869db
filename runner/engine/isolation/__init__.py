"""How agents are kept from the machine they run on, and the one way from them to their model."""

from runner.engine.isolation.choosing import choose
from runner.engine.isolation.gateway import Gateway
from runner.engine.isolation.level import CheckWrap, Isolation, IsolationLevel
from runner.engine.isolation.traffic import Traffic
from runner.engine.isolation.way import require_a_way, warnings_of, way_to
from runner.engine.isolation.wrapped import WrappedLaunch

__all__ = [
    "CheckWrap",
    "Gateway",
    "Isolation",
    "IsolationLevel",
    "Traffic",
    "WrappedLaunch",
    "choose",
    "require_a_way",
    "warnings_of",
    "way_to",
]
