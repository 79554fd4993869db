"""Idle: waits until a server has nothing left to do, so that no backlog gets into the next level."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from runner.errors import EndpointError
from runner.serving.exposition import samples_in
from runner.serving.level import RUNNING, WAITING

QUIET_LOOKS = 2
"""So many times in a row nothing must be running and nothing waiting."""
LOOK_SECONDS = 1.0
PAGE_SECONDS = 10.0


@dataclass(frozen=True)
class Business:
    """What a server has to do now, over all its models."""

    running: float
    waiting: float

    @property
    def idle(self) -> bool:
        """Whether there is nothing."""
        return self.running == 0 and self.waiting == 0


def read_business(url: str, key: str = "", transport: httpx.BaseTransport | None = None) -> Business:
    """Running and waiting requests on the metrics page at ``url``.

    Raises:
        EndpointError: the page cannot be read, or does not tell both.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with httpx.Client(
            transport=transport,
            # Certificates take longer to load than a page to read; http uses none.
            verify=not url.startswith("http://"),
            timeout=PAGE_SECONDS,
            trust_env=False,
            headers=headers,
        ) as client:
            response = client.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise EndpointError(f"the metrics page does not answer: {error}", where=url) from None
    if response.status_code != 200:
        raise EndpointError(f"the metrics page answers with status {response.status_code}", where=url)
    found: dict[str, list[float]] = {RUNNING: [], WAITING: []}
    for sample in samples_in(response.text):
        if sample.metric in found and sample.value is not None:
            found[sample.metric].append(sample.value)
    missing = [name for name, values in found.items() if not values]
    if missing:
        raise EndpointError(
            f"the page does not tell {' and '.join(missing)}: nobody knows when the server is idle",
            where=url,
            remedy="name the page of a vLLM server with --metrics-url",
        )
    return Business(sum(found[RUNNING]), sum(found[WAITING]))


def wait_until_idle(
    look: Callable[[], Business],
    *,
    limit_seconds: float,
    stop: threading.Event,
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
    look_seconds: float = LOOK_SECONDS,
) -> float:
    """Look again and again until the server is idle; how many seconds that took.

    Returns early, at the next look, once ``stop`` is set.

    Raises:
        EndpointError: it is still busy after ``limit_seconds``, or cannot be asked.
    """
    begun, quiet, told = clock(), 0, False
    while not stop.is_set():
        found = look()
        quiet = quiet + 1 if found.idle else 0
        waited = clock() - begun
        if quiet >= QUIET_LOOKS:
            return waited
        if waited >= limit_seconds:
            raise EndpointError(
                f"after {waited:.0f} s the server still has {found.running:.0f} requests running and "
                f"{found.waiting:.0f} waiting, none of them from this sweep",
                remedy="find out who else uses it, or allow more time with --idle-limit; then resume",
            )
        if not found.idle and not told:
            say(f"waits for the server: {found.running:.0f} running, {found.waiting:.0f} waiting")
            told = True
        stop.wait(look_seconds)
    return clock() - begun
