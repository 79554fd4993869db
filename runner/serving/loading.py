"""Loading: lines of a spool become rows of the tables, in a database on disk or in a reader's memory."""

from __future__ import annotations

from datetime import datetime
from itertools import chain

import duckdb
import numpy as np
import pandas as pd

from runner.serving.schema import VERSION
from runner.serving.spool import SpoolContent


def load_spool(
    connection: duckdb.DuckDBPyConnection, content: SpoolContent, *, into: str, beside: str
) -> dict[int, datetime]:
    """Insert what ``content`` has and the tables in ``beside`` have not; the ends of sessions are returned.

    Args:
        connection: an open connection that may write to ``into``.
        content: lines of a spool.
        into: schema of the tables that get the rows.
        beside: schema of the tables that have the older rows; may be the same.
    """
    newest = _number(connection, f"SELECT max(scrape_id) FROM {beside}.metric_scrapes")  # noqa: S608
    known_series = _number(connection, f"SELECT max(series_id) FROM {beside}.metric_series")  # noqa: S608
    known_session = _number(connection, f"SELECT max(session_id) FROM {beside}.collector_sessions")  # noqa: S608
    scrapes = [each for each in content.scrapes if each.scrape_id > newest]
    sessions = [
        (
            each.session_id,
            each.session_name,
            _naive(each.started_at),
            None,
            each.metrics_url,
            each.interval_seconds,
            each.collector_pid,
            VERSION,
        )
        for each in content.sessions
        if each.session_id > known_session
    ]
    series = [
        (each.series_id, each.metric, each.metric_type, each.labels)
        for scrape in scrapes
        for each in scrape.series
        if each.series_id > known_series
    ]
    if sessions:
        connection.executemany(f"INSERT INTO {into}.collector_sessions VALUES (?,?,?,?,?,?,?,?)", sessions)  # noqa: S608
    if series:
        _insert(connection, f"{into}.metric_series", pd.DataFrame(series))
    if scrapes:
        rows = [
            (
                each.scrape_id,
                each.session_id,
                each.sequence_number,
                _naive(each.scraped_at),
                each.scrape_duration_ms,
                each.status,
                each.error,
                len(each.points),
            )
            for each in scrapes
        ]
        _insert(connection, f"{into}.metric_scrapes", pd.DataFrame(rows))
        lengths = [len(each.points) for each in scrapes]
        points = list(chain.from_iterable(each.points for each in scrapes))
        frame = pd.DataFrame(
            {
                "scrape_id": np.repeat([each.scrape_id for each in scrapes], lengths),
                "series_id": np.array([number for number, _ in points], dtype=np.int32),
                "value": np.array([value for _, value in points], dtype=float),
            }
        )
        _insert(connection, f"{into}.metric_points", frame)
    return content.stops


def _insert(connection: duckdb.DuckDBPyConnection, table: str, frame: pd.DataFrame) -> None:
    connection.register("incoming", frame)
    connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")  # noqa: S608 - names are constants
    connection.unregister("incoming")


def _number(connection: duckdb.DuckDBPyConnection, question: str) -> int:
    newest = connection.execute(question).fetchall()[0][0]
    return -1 if newest is None else int(newest)


def _naive(moment: datetime) -> datetime:
    return moment.replace(tzinfo=None)
