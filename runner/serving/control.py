"""Control: starts a collector that goes on without its terminal, tells how it is, and stops it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.errors import ConfigurationError, StoreError
from runner.serving.collector import CollectorSettings
from runner.serving.database import holder_of
from runner.serving.readings import SessionReading, open_readings
from runner.serving.spool import read_spool, spool_of

START_SECONDS = 60.0
STOP_SECONDS = 60.0
LOOK_SECONDS = 0.05
LAST_BYTES = 2_000


@dataclass(frozen=True)
class CollectorStatus:
    """How the collector of a database is."""

    pid: int | None
    """None where none collects."""
    session: SessionReading | None
    """The newest; None where there is none yet."""
    sessions: int
    size_bytes: int
    """Of database and spool."""

    @property
    def ended_unexpectedly(self) -> bool:
        """Whether the newest session was not ended and nobody collects any more."""
        return self.pid is None and self.session is not None and self.session.stopped_at is None


def log_of(database: Path) -> Path:
    """What a collector in the background says."""
    return database.with_name(f"{database.name}.log")


def start(settings: CollectorSettings, environment: Mapping[str, str], root: Path) -> int:
    """Start a collector in a session of its own and wait for its first scrape; its process number.

    Args:
        settings: what it is to do.
        environment: what it sees; holds the key where one is named.
        root: folder of the project.

    Raises:
        ConfigurationError: it ended before, or did not begin; the end of its log is in the message.
    """
    process = _launch(settings, environment, root)
    _await_first(process, Path(settings.database))
    # It is not waited for: whoever adopts it does that.
    process.returncode = 0
    return process.pid


@contextmanager
def collecting(settings: CollectorSettings, environment: Mapping[str, str], root: Path) -> Iterator[Path]:
    """A collector for as long as the context is open, or this process lives; the database.

    Raises:
        ConfigurationError: it does not begin.
    """
    process = _launch(settings.model_copy(update={"bound": True}), environment, root)
    try:
        _await_first(process, Path(settings.database))
        yield Path(settings.database)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def status(database: Path) -> CollectorStatus:
    """How the collector of ``database`` is.

    Raises:
        StoreError: there is no such database, or it cannot be read.
    """
    pid = holder_of(database)
    with open_readings(database) as readings:
        sessions = readings.sessions()
    size = sum(path.stat().st_size for path in (database, spool_of(database)) if path.exists())
    return CollectorStatus(pid, sessions[-1] if sessions else None, len(sessions), size)


def status_lines(found: CollectorStatus, now: datetime) -> Iterator[str]:
    """How it is, in words."""
    session = found.session
    if found.pid is not None:
        yield f"collecting, process {found.pid}"
    elif found.ended_unexpectedly:
        yield "not collecting; the newest session ended unexpectedly"
    else:
        yield "not collecting"
    if session is not None:
        until = f" until {_shown(session.stopped_at)}" if session.stopped_at else ""
        yield f"session {session.session_name}: {session.metrics_url}, every {session.interval_seconds:g} s"
        yield f"  since {_shown(session.started_at)}{until}"
        yield f"  scrapes: {session.scrapes_ok} ok, {session.scrapes_failed} failed"
        if session.last_scrape_at is not None:
            yield f"  last scrape: {(now - session.last_scrape_at).total_seconds():.1f} s ago"
        if session.last_error:
            yield f"  last failure: {session.last_error}"
    yield f"sessions: {found.sessions}, size: {found.size_bytes / 1000:,.0f} kB"


def stop(database: Path, seconds: float = STOP_SECONDS) -> int | None:
    """Stop the collector of ``database`` and wait for its end; its number, or None where none collects.

    Raises:
        StoreError: it cannot be reached from here, or does not end.
    """
    pid = holder_of(database)
    if pid is None:
        return None
    try:
        if pid <= 0:
            raise ProcessLookupError
        os.kill(pid, signal.SIGTERM)
    except OSError:
        raise StoreError(
            f"the collector (process {pid}) cannot be reached",
            where=str(database),
            remedy="stop it where it runs",
        ) from None
    deadline = time.monotonic() + seconds
    while holder_of(database) == pid:
        if time.monotonic() > deadline:
            raise StoreError(f"the collector (process {pid}) does not end", where=str(log_of(database)))
        with contextlib.suppress(ChildProcessError):
            # One of our own children is there until it is asked for its end.
            os.waitpid(pid, os.WNOHANG)
        time.sleep(LOOK_SECONDS)
    return pid


def _launch(
    settings: CollectorSettings, environment: Mapping[str, str], root: Path
) -> subprocess.Popen[bytes]:
    database = Path(settings.database)
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        with log_of(database).open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "runner.serving.collecting", settings.model_dump_json()],
                cwd=root,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE if settings.bound else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise ConfigurationError(
            f"the collector does not start: {error.strerror}",
            where=str(database),
            remedy="name another --database",
        ) from None


def _await_first(process: subprocess.Popen[bytes], database: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        if holder_of(database) == process.pid and _has_scraped(database, process.pid):
            return
        time.sleep(LOOK_SECONDS)
    else:
        process.kill()
    process.wait()
    raise ConfigurationError(
        "the collector ended before its first scrape:\n" + _end_of(log_of(database)),
        where=str(log_of(database)),
        remedy="put that right, then: invoke metrics start",
    )


def _has_scraped(database: Path, pid: int) -> bool:
    """Whether the session of this process has a scrape."""
    content = read_spool(spool_of(database))
    own = {each.session_id for each in content.sessions if each.collector_pid == pid}
    return any(each.session_id in own for each in content.scrapes)


def _end_of(log: Path) -> str:
    try:
        text = log.read_bytes()[-LAST_BYTES:].decode(errors="replace")
    except OSError:
        return "    (there is no log)"
    return "\n".join(f"    {line[:300]}" for line in text.splitlines()[-8:])


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
