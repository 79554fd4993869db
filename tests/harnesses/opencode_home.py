"""The database and the log that opencode leaves, made anew from their recorded rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

TABLES = """
    CREATE TABLE session (id text PRIMARY KEY, parent_id text);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part
        (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
"""
COLUMNS = {
    "session": ("id", "parent_id"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "data"),
}
Row = Mapping[str, object]


def data_folder(home: Path) -> Path:
    """Where the agent keeps its data below ``home``."""
    return home / ".local" / "share" / "opencode"


def put_database(home: Path, rows: Iterable[Row]) -> Path:
    """A database with ``rows``, each of which names its table."""
    path = data_folder(home) / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(TABLES)
        for number, row in enumerate(rows):
            insert(database, {"time_created": number, **row})
        database.commit()
    return path


def insert(database: sqlite3.Connection, row: Row) -> None:
    """One row; ``data`` is written as JSON."""
    columns = COLUMNS[str(row["table"])]
    values = [json.dumps(row["data"]) if name == "data" else row.get(name) for name in columns]
    marks = ", ".join("?" for _ in columns)
    database.execute(f"INSERT INTO {row['table']} VALUES ({marks})", values)  # noqa: S608 - names of ours


def put_log(home: Path, lines: Iterable[object]) -> None:
    """A log with ``lines``."""
    path = data_folder(home) / "log" / "opencode.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
