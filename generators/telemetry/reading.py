"""Reading: a collector's archive as arrays, one value per answered scrape.

The file may come from anybody: it is opened read-only, and nothing in it can reach another file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import numpy.typing as npt

from runner.errors import StoreError, UsageError

Numbers = npt.NDArray[np.float64]
Join = Literal["sum", "avg"]
LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "2GB",
    "threads": "2",
}
MAGIC, MAGIC_AT = b"DUCK", 8
"""What a DuckDB file holds at which of its bytes, in every version of the format."""
NEEDED = ("collector_sessions", "metric_scrapes", "metric_series", "metric_points")
PREFIX = "vllm:"
MAX_SCRAPES = 1_000_000
MAX_NAMES = 8


@dataclass(frozen=True)
class SessionFacts:
    """One session of the collector."""

    name: str
    started_at: datetime
    stopped_at: datetime | None
    metrics_url: str
    interval_seconds: float


@dataclass(frozen=True)
class ScrapeFacts:
    """How the collecting went."""

    answered: int
    failed: int
    last_error: str


class Archive:
    """An open archive."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        rows = self._rows(
            """SELECT scrape_id, epoch_us(scraped_at) FROM metric_scrapes
            WHERE status = 'ok' ORDER BY scrape_id"""
        )
        if len(rows) > MAX_SCRAPES:
            raise UsageError(f"the archive holds more than {MAX_SCRAPES:,} scrapes")
        self._row_of = {int(number): index for index, (number, _) in enumerate(rows)}
        self.times: Numbers = np.array([micros / 1e6 for _, micros in rows], dtype=float)
        """Seconds since 1970 of each answered scrape."""

    def sessions(self) -> tuple[SessionFacts, ...]:
        """Every session, oldest first."""
        rows = self._rows(
            """SELECT session_name, started_at, stopped_at, metrics_url, interval_seconds
            FROM collector_sessions ORDER BY session_id"""
        )
        return tuple(
            SessionFacts(str(name), _utc(begun), _utc(ended) if ended else None, str(url), float(interval))
            for name, begun, ended, url, interval in rows
        )

    def scrapes(self) -> ScrapeFacts:
        """How many scrapes were answered, and how the last of the others failed."""
        ((failed, error),) = self._rows(
            "SELECT count(*), arg_max(error, scrape_id) FROM metric_scrapes WHERE status <> 'ok'"
        )
        return ScrapeFacts(int(self.times.size), int(failed), str(error or ""))

    def models(self) -> tuple[str, ...]:
        """Names of the models that had traffic, the busiest first; all of them where none had any."""
        rows = self._rows(
            f"""SELECT json_extract_string(s.labels, '$.model_name') AS model, max(p.value) AS most
            FROM metric_series s JOIN metric_points p USING (series_id)
            WHERE s.metric = '{PREFIX}prompt_tokens_total' AND model IS NOT NULL
            GROUP BY model ORDER BY most DESC, model"""  # noqa: S608 - a constant
        )
        busy = [str(model) for model, most in rows if most]
        return tuple((busy or [str(model) for model, _ in rows])[:MAX_NAMES])

    def growth(self, metric: str) -> Numbers | None:
        """How far a counter rose since the scrape before, over all label sets; NaN where that is unknown.

        A value below the one before means that the server began anew: all of it is growth. None where no
        scrape has the metric.
        """
        return self._column(_GROWTH.format(by="", group=""), metric)

    def growth_by(self, metric: str, label: str) -> dict[str, float]:
        """How far a counter rose in all, by the values of one label."""
        rows = self._rows(
            _GROWTH.format(by=_LABEL, group=", by_label"), {"metric": PREFIX + metric, "label": label}
        )
        found: dict[str, float] = {}
        for _, grown, value in rows:
            if grown is not None and value is not None:
                found[str(value)] = found.get(str(value), 0.0) + float(grown)
        return found

    def level(self, metric: str, join: Join) -> Numbers | None:
        """A gauge at each scrape, its label sets joined; None where no scrape has it."""
        return self._column(_LEVEL.format(join="avg" if join == "avg" else "sum"), metric)

    def _column(self, question: str, metric: str) -> Numbers | None:
        rows = self._rows(question, {"metric": PREFIX + metric})
        if not rows:
            return None
        column: Numbers = np.full(self.times.size, np.nan)
        for number, value, *_ in rows:
            index = self._row_of.get(int(number))
            if index is not None and value is not None:
                column[index] = float(value)
        return column

    def _rows(self, question: str, values: dict[str, Any] | None = None) -> Sequence[tuple[Any, ...]]:
        return self._connection.execute(question, values or {}).fetchall()


_LABEL = ", json_extract_string(labels, '$.' || $label) AS by_label"
_GROWTH = """WITH steps AS (
    SELECT p.scrape_id, s.labels, p.value,
        lag(p.value) OVER (PARTITION BY p.series_id ORDER BY p.scrape_id) AS before
    FROM metric_points p JOIN metric_series s USING (series_id)
    WHERE s.metric = $metric AND p.value IS NOT NULL)
SELECT scrape_id, sum(CASE WHEN value < before THEN value ELSE value - before END) AS grown{by}
FROM steps GROUP BY scrape_id{group} ORDER BY scrape_id"""
_LEVEL = """SELECT p.scrape_id, {join}(p.value)
FROM metric_points p JOIN metric_series s USING (series_id)
WHERE s.metric = $metric AND p.value IS NOT NULL
GROUP BY p.scrape_id ORDER BY p.scrape_id"""


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open the archive at ``path``.

    Raises:
        StoreError: it is no archive of a collector.
        UsageError: there is none, or it is larger than a page can show.
    """
    if not path.is_file():
        raise UsageError(
            "there is no such archive", where=str(path), remedy="invoke metrics archive makes one"
        )
    with path.open("rb") as file:
        begins = file.read(MAGIC_AT + len(MAGIC))
    if begins[MAGIC_AT:] != MAGIC:
        raise StoreError(
            "no archive of a collector: not a DuckDB file",
            where=str(path),
            remedy="name a file that invoke metrics archive or invoke sweep made",
        )
    try:
        connection = duckdb.connect(str(path), read_only=True, config=LOCKED)
    except duckdb.Error as error:
        raise _unreadable(error, path) from None
    with connection:
        try:
            _require_tables(connection, path)
            yield Archive(connection)
        except (duckdb.Error, json.JSONDecodeError) as error:
            raise _unreadable(error, path) from None


def _require_tables(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    rows = connection.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
    ).fetchall()
    missing = set(NEEDED) - {str(row[0]) for row in rows}
    if missing:
        raise StoreError(f"no archive of a collector: it has no table {min(missing)}", where=str(path))


def _unreadable(error: Exception, path: Path) -> StoreError:
    said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return StoreError(f"the archive cannot be read: {said}", where=str(path))


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)
