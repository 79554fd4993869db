"""What every test shares: property tests without a clock, since a busy machine is no fault."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "no-clock", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("no-clock")


@pytest.fixture(autouse=True)
def no_event_loop_of_other_tests(request: pytest.FixtureRequest) -> None:
    """A browser that outlives its tests leaves an event loop running, in which no other test can run."""
    if request.node.get_closest_marker("browser") is None:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()


@pytest.fixture(autouse=True)
def no_thread_waits_at_a_closed_listener() -> Iterator[None]:
    """Closing a listener does not wake who waits in ``accept()``; the system waits on, by the bare number.

    Stopped and continued, it asks again with the number, which may be another listener's by then: a
    connection of a later test is taken and dropped ("connection reset by peer").
    """
    yield
    waiting = [where for frame in sys._current_frames().values() if (where := _closed_listener(frame))]
    assert not waiting, "shut the listener down and join its thread before it is closed"


def _closed_listener(frame: FrameType) -> str:
    """Where a thread waits in ``accept()`` of a socket that is closed; empty where it does not."""
    caller = frame.f_back
    if frame.f_code is not socket.socket.accept.__code__ or caller is None:
        return ""
    listener = frame.f_locals["self"]
    return f"{caller.f_code.co_filename}:{caller.f_lineno}" if listener.fileno() < 0 else ""
