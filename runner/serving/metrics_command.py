"""Metrics command: ``invoke metrics``, from its flags to what is shown."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.errors import UsageError
from runner.records import require_variable_name
from runner.serving.archive import archive
from runner.serving.collecting import collect
from runner.serving.collector import CollectorSettings
from runner.serving.control import log_of, start, status, status_lines, stop
from runner.serving.database import holder_of
from runner.serving.metrics_flags import ACTIONS, DATABASE
from runner.serving.scrape import checked_metrics_url, metrics_url_of

BASE_URL = "http://127.0.0.1:8000/v1"


@dataclass(frozen=True)
class MetricsFolders:
    """Where the command works: the project, and its folder for databases that git ignores."""

    root: Path
    metrics: Path


def metrics_command(
    folders: MetricsFolders,
    say: Callable[[str], None],
    *,
    environment: Mapping[str, str],
    given: Mapping[str, Any],
) -> int:
    """Do what ``given["action"]`` says; returns the exit code, which is 3 where nothing was there to be done.

    Raises:
        ConfigurationError: the collector does not start.
        StoreError: the database cannot be read or written.
        UsageError: a flag cannot be served.
    """
    action = given["action"]
    database = Path(
        given["database"] or environment.get("METRICS_DB") or folders.metrics / DATABASE
    ).absolute()
    if action == "run":
        collect(settings_of(given, environment, database), environment, say)
        return 0
    if action == "start":
        return _start(folders, say, settings_of(given, environment, database), environment)
    if action == "status":
        for line in status_lines(status(database), datetime.now(UTC)):
            say(line)
        return 0
    if action == "stop":
        stopped = stop(database)
        say(
            "no collector is at work"
            if stopped is None
            else f"stopped process {stopped}; the session is whole"
        )
        return 0
    if action == "archive":
        folder = Path(given["folder"]) if given["folder"] else database.parent / "archives"
        done = archive(database, folder, datetime.now(UTC), model=given["model"], scope=given["scope"])
        say(f"archived {done.scrapes:,} scrapes, {done.points:,} samples: {done.path}")
        say(f"{done.size_before / 1000:,.0f} kB became {done.size_bytes / 1000:,.0f} kB")
        return 0
    raise UsageError(f"invoke metrics cannot {action!r}", remedy=f"known: {', '.join(ACTIONS)}")


def settings_of(
    given: Mapping[str, Any], environment: Mapping[str, str], database: Path
) -> CollectorSettings:
    """The settings that flags and environment stand for.

    Raises:
        UsageError: a number is out of range, or an address cannot be asked.
        ConfigurationError: the name of the key's variable is none.
    """
    base = given["base_url"] or environment.get("BASE_URL") or BASE_URL
    url = given["metrics_url"] or environment.get("METRICS_URL") or metrics_url_of(base)
    interval = _number("interval", given["interval"] or environment.get("METRICS_INTERVAL") or "1")
    duration, timeout = _number("duration", given["duration"]), _number("timeout", given["timeout"])
    for name, value in (("interval", interval), ("timeout", timeout)):
        if value == 0:
            raise UsageError("0 is no number of seconds", where=f"--{name}", remedy="more than 0")
    if not given["prefix"].strip():
        raise UsageError("--prefix must not be empty", remedy="as in --prefix vllm:")
    return CollectorSettings(
        database=str(database),
        metrics_url=checked_metrics_url(url),
        interval_seconds=interval,
        duration_seconds=duration,
        timeout_seconds=timeout,
        session_name=given["session_name"] or f"collector-{uuid.uuid4().hex[:8]}",
        prefix=given["prefix"],
        api_key_env=given["api_key_env"] and require_variable_name(given["api_key_env"]),
    )


def _start(
    folders: MetricsFolders,
    say: Callable[[str], None],
    settings: CollectorSettings,
    environment: Mapping[str, str],
) -> int:
    database = Path(settings.database)
    holder = holder_of(database)
    if holder is not None:
        raise UsageError(
            f"process {holder} collects into this database already",
            where=str(database),
            remedy="stop it: invoke metrics stop, or name another --database",
        )
    pid = start(settings, environment, folders.root)
    say(f"collects {settings.metrics_url} as process {pid}, without this terminal")
    say(f"database: {database}")
    say(f"log: {log_of(database)}")
    found = status(database).session
    if found is not None and not found.scrapes_ok:
        say(f"the first scrape failed: {found.last_error}; it is tried again and again")
        say("stop it: invoke metrics stop; then check that the server is up and has /metrics at this address")
        return 3
    say("stop it: invoke metrics stop")
    return 0


def _number(name: str, text: str) -> float:
    """The seconds that a flag stands for, 0 or more.

    Raises:
        UsageError: it is no such number.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise UsageError(f"{text[:80]!r} is no number of seconds", where=f"--{name}", remedy="such as 0.5")
    return value
