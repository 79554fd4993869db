"""What every test shares: property tests without a clock, since a busy machine is no fault."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings

settings.register_profile("no-clock", deadline=None, derandomize=True)
settings.load_profile("no-clock")


@pytest.fixture(autouse=True)
def no_event_loop_of_other_tests(request: pytest.FixtureRequest) -> None:
    """A browser that outlives its tests leaves an event loop running, in which no other test can run."""
    if request.node.get_closest_marker("browser") is None:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
