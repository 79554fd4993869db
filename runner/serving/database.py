"""Database: what the one collector of a database does to it: begin a session, add scrapes, fold, end.

A scrape is appended to the spool in one write. Now and then the spool is folded into a copy of the database,
which then takes the database's place in one step: readers have the old file or the new one, never a locked
one, and a collector that is killed at any moment leaves both whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import duckdb

from runner.errors import StoreError, UsageError
from runner.serving.exposition import Sample
from runner.serving.loading import load_spool
from runner.serving.schema import create_tables, create_views
from runner.serving.spool import (
    Scrape,
    SeriesName,
    Session,
    read_spool,
    scrape_line,
    session_line,
    spool_of,
    stop_line,
)

FOLD_BYTES = 2_000_000
"""Of the spool; about six minutes of a vLLM server that is asked each second."""
MAX_SERIES = 100_000
"""Of one database; a server that invents labels would fill the disk."""
FILE_MODE = 0o644
LOOKS, LOOK_SECONDS = 20, 0.01


@dataclass(frozen=True)
class Answer:
    """What came of one question to the server."""

    scraped_at: datetime
    duration_ms: float
    samples: Sequence[Sample] = ()
    error: str = ""


@dataclass
class CollectorDatabase:
    """A database that this process alone writes to; made by :func:`opened`."""

    path: Path
    _descriptor: int
    _size: int = 0
    _series: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _next_scrape: int = 0
    _session: Session | None = None
    _sequence: int = 0

    def begin(self, name: str, started_at: datetime, metrics_url: str, interval_seconds: float) -> Session:
        """Start a session.

        Raises:
            StoreError: it cannot be written.
        """
        with _connected(self.path, read_only=True) as connection:
            number = 1 + _first(connection, "SELECT coalesce(max(session_id), 0) FROM collector_sessions")
        session = Session(number, name, started_at, metrics_url, interval_seconds, os.getpid())
        self._write(session_line(session))
        self._session, self._sequence = session, 0
        return session

    def append(self, answer: Answer) -> None:
        """Add one scrape, whole or not at all.

        Raises:
            StoreError: it cannot be written, or the server has too many series.
        """
        if self._session is None:
            raise StoreError("no session has begun", where=str(self.path))
        new: dict[tuple[str, str, str], int] = {}
        points: list[tuple[int, float | None]] = []
        for sample in answer.samples:
            key = (sample.metric, sample.metric_type, sample.labels)
            number = self._series.get(key, new.get(key))
            if number is None:
                number = new[key] = len(self._series) + len(new) + 1
            points.append((number, sample.value))
        error = answer.error
        if len(self._series) + len(new) > MAX_SERIES:
            error, points, new = f"the server has told of more than {MAX_SERIES:,} series", [], {}
        scrape = Scrape(
            self._next_scrape,
            self._session.session_id,
            self._sequence + 1,
            answer.scraped_at,
            answer.duration_ms,
            "error" if error else "ok",
            error,
            tuple(points),
            tuple(SeriesName(number, *key) for key, number in new.items()),
        )
        self._write(scrape_line(scrape))
        self._next_scrape += 1
        self._sequence += 1
        self._series |= new

    @property
    def spool(self) -> Path:
        """The file that scrapes are appended to."""
        return spool_of(self.path)

    @property
    def wants_folding(self) -> bool:
        """Whether the spool has grown so far that it should become part of the database."""
        return self._size >= FOLD_BYTES

    def fold(self) -> None:
        """Move the spool into the database.

        Raises:
            StoreError: that cannot be done now; nothing is lost, and the spool goes on.
        """
        _fold(self.path)
        # A new file: whoever reads the old one reads it to its end.
        emptied = _new_spool(self.path)
        os.close(self._descriptor)
        self._descriptor, self._size = emptied, 0

    def end(self, stopped_at: datetime) -> None:
        """End the session and fold; the spool is gone afterwards.

        Raises:
            StoreError: it cannot be written.
        """
        if self._session is not None:
            self._write(stop_line(self._session.session_id, stopped_at))
            self._session = None
        self.fold()
        spool_of(self.path).unlink(missing_ok=True)

    def _write(self, line: bytes) -> None:
        try:
            written = os.write(self._descriptor, line)
            if written != len(line):
                raise OSError(0, "the disk is full")
        except OSError as error:
            # Half a line would spoil the next one.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise _unwritable(error, self.path) from None
        self._size += len(line)


def lock_of(database: Path) -> Path:
    """The lock beside ``database``; its holder's process number is in it."""
    return database.with_name(f"{database.name}.lock")


@contextmanager
def opened(path: Path) -> Iterator[CollectorDatabase]:
    """The database at ``path``, made where there is none, for this process alone.

    What an earlier collector left in the spool is folded first.

    Raises:
        StoreError: it cannot be written, or is none.
        UsageError: another collector writes to it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(lock_of(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        raise _unwritable(error, path) from None
    try:
        _take(lock, path)
        database = _ready(path)
        try:
            yield database
        finally:
            os.close(database._descriptor)
    finally:
        os.close(lock)


def holder_of(path: Path) -> int | None:
    """Number of the process that collects into ``path`` now; None where none does."""
    try:
        descriptor = os.open(lock_of(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else 0
    finally:
        os.close(descriptor)
    return None


def _take(lock: int, path: Path) -> None:
    # Whoever looks for the holder has the lock for a moment: also the one who started us and waits.
    for _ in range(LOOKS):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(LOOK_SECONDS)
    else:
        raise UsageError(
            f"process {holder_of(path)} collects into this database already",
            where=str(path),
            remedy="stop it: invoke metrics stop, or name another --database",
        )
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())


def _ready(path: Path) -> CollectorDatabase:
    if not path.exists():
        _replace(path, None)
    spool = spool_of(path)
    if spool.exists():
        _fold(path)
    with _connected(path, read_only=True) as connection:
        series = connection.execute(
            "SELECT metric, metric_type, labels, series_id FROM metric_series"
        ).fetchall()
        newest = _first(connection, "SELECT coalesce(max(scrape_id), 0) FROM metric_scrapes")
    known = {(metric, kind, labels): number for metric, kind, labels, number in series}
    return CollectorDatabase(path, _new_spool(path), 0, known, 1 + newest)


def _new_spool(path: Path) -> int:
    """Put an empty spool in its place; the descriptor to write to."""
    spool = spool_of(path)
    empty = spool.with_name(f"{spool.name}.empty")
    try:
        descriptor = os.open(
            empty, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, FILE_MODE
        )
        empty.replace(spool)
    except OSError as error:
        raise _unwritable(error, path) from None
    return descriptor


def _fold(path: Path) -> None:
    _replace(path, path)


def _replace(path: Path, old: Path | None) -> None:
    """Put a new database in the place of ``path``: an empty one, or ``old`` with what the spool has."""
    building = path.with_name(f"{path.name}.building")
    try:
        building.unlink(missing_ok=True)
        if old is not None:
            shutil.copyfile(old, building)
        with _connected(building) as connection:
            if old is None:
                create_tables(connection)
                create_views(connection)
            else:
                _add(connection, path)
        with building.open("rb") as stream:
            os.fsync(stream.fileno())
        building.replace(path)
    except OSError as error:
        raise _unwritable(error, path) from None


def _add(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    connection.execute("BEGIN")
    stops = load_spool(connection, read_spool(spool_of(path)), into="main", beside="main")
    for number, moment in stops.items():
        connection.execute(
            "UPDATE collector_sessions SET stopped_at = ? WHERE session_id = ?",
            [moment.replace(tzinfo=None), number],
        )
    connection.execute("COMMIT")


def _first(connection: duckdb.DuckDBPyConnection, question: str) -> int:
    return int(connection.execute(question).fetchall()[0][0])


@contextmanager
def _connected(path: Path, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    try:
        with duckdb.connect(str(path), read_only=read_only, config={"threads": 1}) as connection:
            yield connection
    except duckdb.Error as error:
        raise StoreError(
            f"the collector database cannot be used: {str(error).splitlines()[0][:200]}",
            where=str(path),
            remedy="move the file away, or name another --database",
        ) from None


def _unwritable(error: OSError, path: Path) -> StoreError:
    return StoreError(
        f"the collector database cannot be written: {error.strerror or error}",
        where=str(path),
        remedy="see that the folder is there, is yours, and that the disk has room",
    )
