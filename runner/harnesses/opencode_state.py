"""State that ``opencode`` leaves: its database with every answer of every session, and its log of failures.

The database is read from a copy, write-ahead log included, so that a killed agent's last answers are there,
nothing below the agent's home changes, and a link in its place is not followed.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from runner.harnesses.counts import Counts
from runner.harnesses.stream import MAX_LINE_BYTES, Event, count, mapping, opened, parsed, text

DATABASE = "opencode.db"
MAX_DATABASE_BYTES = 1_000_000_000
MAX_ENTRY_BYTES = 32_000_000
"""Of anything that a query makes or reads: the file may hold views of the agent's own."""
MAX_ANSWERS = 100_000
QUERY_SECONDS = 30.0
INSTRUCTIONS_BETWEEN_LOOKS = 100_000
LIMITS = {"longest": 200_000, "most": MAX_ANSWERS}
"""Characters of one entry; those with counts are far shorter."""
ANSWERS = """
    SELECT part.id, session.parent_id, part.data, message.data
    FROM part
    LEFT JOIN message ON message.id = part.message_id
    LEFT JOIN session ON session.id = part.session_id
    WHERE length(part.data) < :longest AND part.data LIKE '%"step-finish"%'
    ORDER BY part.time_created
    LIMIT :most
"""
UNFINISHED = """
    SELECT data FROM message
    WHERE length(data) < :longest AND data LIKE '%"assistant"%' AND data NOT LIKE '%"completed"%'
    LIMIT :most
"""
FAILED_REQUEST = b'message="stream error"'
BROKE_OFF = re.compile(r"socket|closed|terminated|abort|timed? ?out|reset by|incomplete", re.IGNORECASE)
"""In the log of a request that may have been worked on; one that was turned away used no tokens."""


@dataclass(frozen=True)
class Answer:
    """One finished answer of the model."""

    counts: Counts
    main: bool
    """Whether it belongs to the session that was started, not to a subagent's."""
    model: str = ""


@dataclass
class State:
    """What was left of a run."""

    found: bool = False
    """Whether the database could be read."""
    answers: dict[str, Answer] = field(default_factory=dict)
    """By the id that the stream gives them as well."""
    unfinished: int = 0
    """Answers that neither came to an end nor failed."""
    failed_requests: int = 0
    """Requests that failed and were made again."""
    broken: int = 0
    """Those of them that broke off after the server may have begun to answer."""


def read_state(data: Path) -> State:
    """What the folder ``data`` of the agent holds. Never raises on a missing, cut or foreign file."""
    state = State()
    _read_log(data / "log", state)
    with tempfile.TemporaryDirectory(prefix="harnessmark-opencode-") as folder:
        copy = Path(folder) / DATABASE
        if _copied(data / DATABASE, copy):
            # Without its write-ahead log it is as it was some time before the end.
            _copied(data / f"{DATABASE}-wal", Path(folder) / f"{DATABASE}-wal")
            _read_database(copy, state)
    return state


def counts_of(tokens: Event) -> Counts:
    """Counts of an answer. The agent's output leaves out reasoning, which ours includes."""
    cache = mapping(tokens.get("cache"))
    said, reasoning = count(tokens.get("output")), count(tokens.get("reasoning"))
    return Counts(
        fresh=count(tokens.get("input")),
        output=None if said is None or reasoning is None else said + reasoning,
        read=count(cache.get("read")),
        write=count(cache.get("write")),
        reasoning=reasoning,
    )


def _read_database(path: Path, state: State) -> None:
    deadline = time.monotonic() + QUERY_SECONDS
    try:
        with closing(sqlite3.connect(path)) as database:
            database.text_factory = bytes
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ENTRY_BYTES)
            database.set_progress_handler(
                lambda: int(time.monotonic() > deadline), INSTRUCTIONS_BETWEEN_LOOKS
            )
            database.execute("PRAGMA trusted_schema = OFF")
            for identifier, parent, part, message in database.execute(ANSWERS, LIMITS):
                _take(identifier, parent, _object(part), _object(message), state)
            messages = database.execute(UNFINISHED, LIMITS)
            state.unfinished = sum(_is_unfinished(_object(data)) for (data,) in messages)
            state.found = True
    except (sqlite3.Error, OverflowError):
        # What was read before stands; the stream has the rest.
        return


def _take(identifier: object, parent: object, part: Event, message: Event, state: State) -> None:
    if part.get("type") == "step-finish" and isinstance(identifier, bytes):
        state.answers[identifier.decode(errors="replace")] = Answer(
            counts=counts_of(mapping(part.get("tokens"))),
            main=parent is None,
            model=text(message.get("modelID"), 300),
        )


def _is_unfinished(message: Event) -> bool:
    ends = ("finish", "error")
    return message.get("role") == "assistant" and not any(message.get(name) for name in ends)


def _object(data: object) -> Event:
    return (parsed(data) if isinstance(data, bytes) else None) or {}


def _read_log(folder: Path, state: State) -> None:
    for path in sorted(folder.glob("*.log")):
        for line in _lines(path):
            if FAILED_REQUEST in line:
                state.failed_requests += 1
                state.broken += bool(BROKE_OFF.search(line.decode(errors="replace").partition("error.")[2]))


def _lines(path: Path) -> Iterator[bytes]:
    stream = _opened(path)
    if stream is not None:
        with stream:
            while line := stream.readline(MAX_LINE_BYTES):
                yield line


def _copied(source: Path, target: Path) -> bool:
    stream = _opened(source)
    if stream is None:
        return False
    with stream, target.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return True


def _opened(path: Path) -> BinaryIO | None:
    """A regular file of a sensible size, else None."""
    stream = opened(path)
    if stream is None or os.fstat(stream.fileno()).st_size <= MAX_DATABASE_BYTES:
        return stream
    stream.close()
    return None
