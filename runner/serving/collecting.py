"""Collecting: the process of a collector (``python -m runner.serving.collecting SETTINGS``)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from runner.errors import HarnessmarkError
from runner.serving.collector import Collector, CollectorSettings
from runner.serving.database import CollectorDatabase, opened
from runner.serving.scrape import bearer, client_for

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def collect(settings: CollectorSettings, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Collect in this process until a signal or the end of the time.

    Raises:
        StoreError: the database cannot be written.
        UsageError: another collector writes to it, or the key's variable is not set.
    """
    key = bearer(settings.api_key_env, environment)
    with opened(Path(settings.database)) as database:
        asyncio.run(_collect(settings, key, database, say))


async def _collect(
    settings: CollectorSettings, key: str, database: CollectorDatabase, say: Callable[[str], None]
) -> None:
    loop = asyncio.get_running_loop()
    async with client_for(key) as client:
        collector = Collector(settings, database, client, say)
        for number in ENDING:
            loop.add_signal_handler(number, collector.stop.set)
        if settings.bound:
            loop.add_reader(sys.stdin.fileno(), lambda: _heard(loop, collector))
        say(f"collects {settings.metrics_url} every {settings.interval_seconds:g} s, process {os.getpid()}")
        await collector.run()
    lost = f", {collector.lost} lost" if collector.lost else ""
    say(f"ended: {collector.ok} scrapes, {collector.failed} failed{lost}")


def _heard(loop: asyncio.AbstractEventLoop, collector: Collector) -> None:
    """Something on the standard input: nothing counts but its end."""
    if not os.read(sys.stdin.fileno(), 4096):
        loop.remove_reader(sys.stdin.fileno())
        collector.stop.set()


def main(arguments: Sequence[str]) -> int:
    """Collect as ``arguments[0]`` says (JSON); returns the exit code."""
    settings = CollectorSettings.model_validate_json(arguments[0])
    try:
        collect(settings, os.environ, _stamped)
    except HarnessmarkError as error:
        _stamped(error.message())
        return error.exit_code
    return 0


def _stamped(line: str) -> None:
    sys.stdout.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
