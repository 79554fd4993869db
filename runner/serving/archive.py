"""Archive: a finished collector database under a name that tells what it holds, ordered and compact."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from runner.errors import StoreError, UsageError
from runner.serving.database import lock_of, opened
from runner.serving.schema import TABLE_NAMES, create_tables, create_views
from runner.store import component, model_slug, slug

SUFFIX = ".duckdb"
ORDER = {
    "collector_sessions": "session_id",
    "metric_scrapes": "scrape_id",
    "metric_series": "series_id",
    "metric_points": "series_id, scrape_id",
}
NO_MODEL = "unknown-model"


@dataclass(frozen=True)
class Archived:
    """What came of an archiving."""

    path: Path
    scrapes: int
    points: int
    size_bytes: int
    size_before: int


def archive_name(model: str, scope: str, moment: datetime) -> str:
    """``<model>_<scope>_<UTC stamp>.duckdb``.

    Raises:
        PathEscapeError: no name can be made of model or scope.
    """
    return component(f"{model_slug(model)}_{slug(scope)}_{moment:%Y%m%dt%H%M%Sz}{SUFFIX}")


def archive(
    database: Path, folder: Path, moment: datetime, *, model: str | None = None, scope: str | None = None
) -> Archived:
    """Move ``database`` into ``folder``; the collector must have been stopped.

    Args:
        database: path of a collector database.
        folder: made where it is not there.
        moment: time of the stamp.
        model: None for the one that the server served most.
        scope: None for the name of the newest session.

    Raises:
        StoreError: there is no such database, or the archive cannot be written; the database stays then.
        UsageError: a collector is at work on it.
    """
    if not database.is_file():
        raise StoreError("there is no such collector database", where=str(database))
    with opened(database) as held:
        held.fold()
        path = folder / archive_name(model or _model(database), scope or _scope(database), moment)
        if path.exists():
            raise UsageError(
                "there is an archive of that name", where=str(path), remedy="name another --scope"
            )
        before = database.stat().st_size
        folder.mkdir(parents=True, exist_ok=True)
        counts = _compact(database, path)
        for gone in (database, held.spool):
            gone.unlink(missing_ok=True)
    lock_of(database).unlink(missing_ok=True)
    return Archived(path, counts["metric_scrapes"], counts["metric_points"], path.stat().st_size, before)


def _compact(database: Path, path: Path) -> dict[str, int]:
    """Copy everything in the order of series, for small size and fast windows; the number of rows."""
    # Always the same name for a database, whose lock is held: what a kill left of it is built anew.
    key = hashlib.sha256(os.fsencode(database.resolve())).hexdigest()[:16]
    building = path.with_name(f".{key}.building")
    _drop(building)
    quoted = str(database).replace("'", "''")
    try:
        with duckdb.connect(str(building), config={"threads": 2}) as connection:
            connection.execute(f"ATTACH '{quoted}' AS old (READ_ONLY)")
            create_tables(connection)
            counts = {}
            for name in TABLE_NAMES:
                connection.execute(
                    f"INSERT INTO main.{name} SELECT * FROM old.main.{name} ORDER BY {ORDER[name]}"  # noqa: S608
                )
                pair = [_count(connection, f"{where}.{name}") for where in ("main", "old.main")]
                if pair[0] != pair[1]:
                    raise StoreError(f"the copy has {pair[0]} rows of {pair[1]}", where=name)
                counts[name] = pair[0]
            create_views(connection)
            connection.execute("DETACH old")
        building.replace(path)
    except duckdb.Error as error:
        _drop(building)
        said = str(error).splitlines()[0][:200]
        raise StoreError(f"the archive cannot be written: {said}", where=str(path)) from None
    return counts


def _drop(building: Path) -> None:
    for path in (building, building.with_name(f"{building.name}.wal")):
        path.unlink(missing_ok=True)


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608


def _model(database: Path) -> str:
    return (
        _first(
            database,
            """SELECT json_extract_string(labels, '$.model_name') AS model FROM metric_series
        JOIN metric_points USING (series_id) WHERE model IS NOT NULL
        AND metric IN ('vllm:prompt_tokens_total', 'vllm:generation_tokens_total')
        GROUP BY model ORDER BY max(value) DESC, model LIMIT 1""",
        )
        or NO_MODEL
    )


def _scope(database: Path) -> str:
    return (
        _first(database, "SELECT session_name FROM collector_sessions ORDER BY session_id DESC LIMIT 1")
        or "collector"
    )


def _first(database: Path, question: str) -> str | None:
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(question).fetchall()
    return str(rows[0][0]) if rows and rows[0][0] else None
