"""Loading: lines of a spool become rows of the tables, in a database on disk or in a reader's memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from runner.serving.schema import VERSION
from runner.serving.spool import Scrape, SeriesName, SpoolContent

Columns = Mapping[str, npt.NDArray[Any]]


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
    for each in content.sessions:
        if each.session_id > known_session:
            connection.execute(
                f"INSERT INTO {into}.collector_sessions VALUES (?,?,?,NULL,?,?,?,?)",  # noqa: S608
                [
                    each.session_id,
                    each.session_name,
                    each.started_at.replace(tzinfo=None),
                    each.metrics_url,
                    each.interval_seconds,
                    each.collector_pid,
                    VERSION,
                ],
            )
    scrapes = [each for each in content.scrapes if each.scrape_id > newest]
    series = [each for scrape in scrapes for each in scrape.series if each.series_id > known_series]
    if series:
        _insert(connection, f"{into}.metric_series", _series_columns(series))
    if scrapes:
        _insert(connection, f"{into}.metric_scrapes", _scrape_columns(scrapes))
        _insert(connection, f"{into}.metric_points", _point_columns(scrapes))
    return content.stops


def _series_columns(series: Sequence[SeriesName]) -> Columns:
    return {
        "series_id": np.array([each.series_id for each in series], dtype=np.int32),
        "metric": _texts(each.metric for each in series),
        "metric_type": _texts(each.metric_type for each in series),
        "labels": _texts(each.labels for each in series),
    }


def _scrape_columns(scrapes: Sequence[Scrape]) -> Columns:
    moments = [each.scraped_at.replace(tzinfo=None) for each in scrapes]
    return {
        "scrape_id": np.array([each.scrape_id for each in scrapes], dtype=np.int64),
        "session_id": np.array([each.session_id for each in scrapes], dtype=np.int64),
        "sequence_number": np.array([each.sequence_number for each in scrapes], dtype=np.int64),
        "scraped_at": np.array(moments, dtype="datetime64[us]"),
        "scrape_duration_ms": np.array([each.scrape_duration_ms for each in scrapes], dtype=float),
        "status": _texts(each.status for each in scrapes),
        "error": _texts(each.error for each in scrapes),
        "sample_count": np.array([len(each.points) for each in scrapes], dtype=np.int32),
    }


def _point_columns(scrapes: Sequence[Scrape]) -> Columns:
    """One row for each point; an unknown value is not a number, which becomes NULL."""
    points = list(chain.from_iterable(each.points for each in scrapes))
    numbers = [each.scrape_id for each in scrapes]
    return {
        "scrape_id": np.repeat(np.array(numbers, dtype=np.int64), [len(each.points) for each in scrapes]),
        "series_id": np.array([number for number, _ in points], dtype=np.int32),
        "value": np.array([value for _, value in points], dtype=float),
    }


def _texts(texts: Iterable[str]) -> npt.NDArray[Any]:
    return np.array(list(texts), dtype=object)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, columns: Columns) -> None:
    connection.register("incoming", columns)
    connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")  # noqa: S608 - names are constants
    connection.unregister("incoming")


def _number(connection: duckdb.DuckDBPyConnection, question: str) -> int:
    newest = connection.execute(question).fetchall()[0][0]
    return -1 if newest is None else int(newest)
