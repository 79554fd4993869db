"""Readings: a collector database as it is now, also while a collector writes to it.

The newest scrapes are in the spool, the others in the database. The spool is read first: whatever is moved
meanwhile is then in both and counted once. A collector never writes to a database that a reader may have
open, it puts a new file in its place; so neither ever waits for the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from runner.errors import StoreError
from runner.serving.loading import load_spool
from runner.serving.schema import TABLE_NAMES, create_tables, create_views
from runner.serving.spool import OK, SpoolContent, read_spool, spool_of
from runner.serving.timeline import (
    Combine,
    GaugeReading,
    HistogramReading,
    Samples,
    Series,
    gauge,
    histogram,
    increase,
    resets,
    widest_gap,
)

NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True)
class SessionReading:
    """One session and what it has collected. Times are UTC."""

    session_id: int
    session_name: str
    started_at: datetime
    stopped_at: datetime | None
    metrics_url: str
    interval_seconds: float
    collector_pid: int
    scrapes_ok: int
    scrapes_failed: int
    last_scrape_at: datetime | None
    last_error: str | None
    """Of the newest failed scrape."""


class Readings:
    """An open database. ``session_name`` limits everything to the sessions of that name."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, session_name: str | None = None) -> None:
        self.connection = connection
        """Has every table and view of :mod:`runner.serving.schema`; for questions that are not asked here."""
        self._name = session_name

    def sessions(self) -> tuple[SessionReading, ...]:
        """Every session, oldest first."""
        rows = self._rows(
            """SELECT c.session_id, c.session_name, c.started_at, c.stopped_at, c.metrics_url,
                c.interval_seconds, c.collector_pid,
                count(*) FILTER (r.status = 'ok'), count(*) FILTER (r.status = 'error'), max(r.scraped_at),
                arg_max(r.error, r.scrape_id) FILTER (r.status = 'error')
            FROM collector_sessions c LEFT JOIN metric_scrapes r USING (session_id)
            WHERE $name IS NULL OR c.session_name = $name
            GROUP BY ALL ORDER BY c.session_id""",
            {"name": self._name},
        )
        return tuple(
            SessionReading(
                session_id=row[0],
                session_name=row[1],
                started_at=_utc(row[2]),
                stopped_at=_maybe_utc(row[3]),
                metrics_url=row[4],
                interval_seconds=row[5],
                collector_pid=row[6],
                scrapes_ok=row[7],
                scrapes_failed=row[8],
                last_scrape_at=_maybe_utc(row[9]),
                last_error=row[10],
            )
            for row in rows
        )

    def metrics(self) -> frozenset[str]:
        """Name of every metric that was ever seen."""
        return frozenset(row[0] for row in self._rows("SELECT DISTINCT metric FROM metric_series", {}))

    def samples(
        self, metric: str, start: datetime, end: datetime, labels: Mapping[str, str] = NO_LABELS
    ) -> Samples:
        """Samples of ``metric`` in the window and at the answered scrapes next to it on both sides.

        Args:
            metric: name as on the page, such as ``vllm:prompt_tokens_total``.
            start: begin of the window.
            end: end of the window.
            labels: only label sets that have all of these.
        """
        times = self._scrape_times(start, end)
        if not times:
            return Samples(np.array([]), ())
        rows = self._rows(
            """SELECT s.series_id, any_value(s.labels), list(p.scrape_id ORDER BY p.scrape_id),
                list(p.value ORDER BY p.scrape_id)
            FROM metric_series s JOIN metric_points p USING (series_id)
            WHERE s.metric = $metric AND p.scrape_id BETWEEN $low AND $high AND p.value IS NOT NULL
            GROUP BY s.series_id ORDER BY s.series_id""",
            {"metric": metric, "low": min(times), "high": max(times)},
        )
        found = []
        for _, text, numbers, values in rows:
            named = json.loads(text)
            if any(named.get(key) != value for key, value in labels.items()):
                continue
            kept = [
                (times[number], value)
                for number, value in zip(numbers, values, strict=True)
                if number in times
            ]
            if kept:
                at, value_at = zip(*kept, strict=True)
                found.append(Series(named, np.array(at, dtype=float), np.array(value_at, dtype=float)))
        return Samples(np.array(list(times.values())), tuple(found))

    def counter(
        self, metric: str, start: datetime, end: datetime, labels: Mapping[str, str] = NO_LABELS
    ) -> float | None:
        """How far a counter rose in the window: :func:`runner.serving.timeline.increase`."""
        return increase(self.samples(metric, start, end, labels), start.timestamp(), end.timestamp())

    def resets(self, metric: str, start: datetime, end: datetime) -> int:
        """How many times a counter began anew in the window."""
        return resets(self.samples(metric, start, end), start.timestamp(), end.timestamp())

    def gauge(
        self,
        metric: str,
        start: datetime,
        end: datetime,
        labels: Mapping[str, str] = NO_LABELS,
        combine: Combine = Combine.SUM,
    ) -> GaugeReading | None:
        """Peak and means of a gauge in the window: :func:`runner.serving.timeline.gauge`."""
        samples = self.samples(metric, start, end, labels)
        return gauge(samples, start.timestamp(), end.timestamp(), combine)

    def histogram(
        self, family: str, start: datetime, end: datetime, labels: Mapping[str, str] = NO_LABELS
    ) -> HistogramReading | None:
        """What a histogram counted in the window: :func:`runner.serving.timeline.histogram`.

        Args:
            family: name without ``_bucket``, such as ``vllm:time_to_first_token_seconds``.
            start: begin of the window.
            end: end of the window.
            labels: only label sets that have all of these.
        """
        parts = [
            self.samples(f"{family}{end_}", start, end, labels) for end_ in ("_bucket", "_count", "_sum")
        ]
        return histogram(parts[0], parts[1], parts[2], start.timestamp(), end.timestamp())

    def widest_gap(self, start: datetime, end: datetime) -> float | None:
        """Longest time without an answered scrape that the window touches, in seconds; None where it is
        not covered on both sides."""
        times = np.array(list(self._scrape_times(start, end).values()))
        return widest_gap(times, start.timestamp(), end.timestamp())

    def _scrape_times(self, start: datetime, end: datetime) -> dict[int, float]:
        """Time by number of every answered scrape in the window, and of one before and one after it.

        One that is not later than its forerunner, because the clock was set back, is left out.
        """
        rows = self._rows(
            """WITH answered AS (
                SELECT r.scrape_id, r.scraped_at
                FROM metric_scrapes r JOIN collector_sessions c USING (session_id)
                WHERE r.status = $ok AND ($name IS NULL OR c.session_name = $name))
            SELECT scrape_id, epoch_us(scraped_at) FROM answered
            WHERE scraped_at BETWEEN
                coalesce((SELECT max(scraped_at) FROM answered WHERE scraped_at <= $start), $start)
                AND coalesce((SELECT min(scraped_at) FROM answered WHERE scraped_at >= $end), $end)
            ORDER BY scrape_id""",
            {"ok": OK, "name": self._name, "start": _naive(start), "end": _naive(end)},
        )
        times: dict[int, float] = {}
        newest = -np.inf
        for number, micros in rows:
            if micros > newest:
                newest = micros
                times[number] = micros / 1_000_000
        return times

    def _rows(self, question: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        return self.connection.execute(question, values).fetchall()


@contextmanager
def open_readings(database: Path, session_name: str | None = None) -> Iterator[Readings]:
    """Open a collector database or an archive of one for reading, at any time.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    content = read_spool(spool_of(database))
    if not database.is_file():
        raise StoreError(
            "there is no such collector database", where=str(database), remedy="invoke metrics start"
        )
    connection = duckdb.connect(":memory:", config={"threads": 2})
    try:
        try:
            _attach(connection, database, content)
        except duckdb.Error as error:
            raise StoreError(
                f"the collector database cannot be read: {str(error).splitlines()[0][:200]}",
                where=str(database),
            ) from None
        yield Readings(connection, session_name)
    finally:
        connection.close()


def _attach(connection: duckdb.DuckDBPyConnection, database: Path, content: SpoolContent) -> None:
    quoted = str(database).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS kept (READ_ONLY)")
    connection.execute("CREATE SCHEMA fresh")
    create_tables(connection, "memory.fresh", keys=False)
    stops = load_spool(connection, content, into="memory.fresh", beside="kept.main")
    connection.execute("CREATE TABLE memory.fresh.stops (session_id BIGINT, stopped_at TIMESTAMP)")
    for number, moment in stops.items():
        connection.execute("INSERT INTO memory.fresh.stops VALUES (?, ?)", [number, _naive(moment)])
    for name in TABLE_NAMES[1:]:
        connection.execute(
            f"CREATE VIEW memory.main.{name} AS SELECT * FROM kept.main.{name} "  # noqa: S608 - constant names
            f"UNION ALL SELECT * FROM memory.fresh.{name}"
        )
    connection.execute(
        """CREATE VIEW memory.main.collector_sessions AS
        SELECT a.* REPLACE (coalesce(a.stopped_at, s.stopped_at) AS stopped_at) FROM (
            SELECT * FROM kept.main.collector_sessions
            UNION ALL SELECT * FROM memory.fresh.collector_sessions) a
        LEFT JOIN memory.fresh.stops s USING (session_id)"""
    )
    create_views(connection, "memory.main")
    # Nothing in a file that somebody else wrote can reach another one.
    connection.execute("SET enable_external_access = false")


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)


def _maybe_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else _utc(moment)
