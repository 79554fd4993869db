"""Spool: the newest scrapes as lines of a file that one process appends to and any other can read.

Each line is one JSON object and one transaction: a line without its end was cut off and does not count. Lines
that stand in the database already, because a collector died between writing it and emptying the spool, are
told by their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.errors import StoreError

OK, ERROR = "ok", "error"


@dataclass(frozen=True)
class Session:
    """One time that a collector was started."""

    session_id: int
    session_name: str
    started_at: datetime
    metrics_url: str
    interval_seconds: float
    collector_pid: int


@dataclass(frozen=True)
class SeriesName:
    """What tells one series from the others: metric, type and labels (compact JSON with sorted keys)."""

    series_id: int
    metric: str
    metric_type: str
    labels: str


@dataclass(frozen=True)
class Scrape:
    """One question to the server. ``series`` are those that no earlier scrape had."""

    scrape_id: int
    session_id: int
    sequence_number: int
    scraped_at: datetime
    scrape_duration_ms: float
    status: str
    error: str
    points: tuple[tuple[int, float | None], ...] = ()
    series: tuple[SeriesName, ...] = ()


@dataclass
class SpoolContent:
    """All whole lines of a spool."""

    sessions: list[Session] = field(default_factory=list)
    stops: dict[int, datetime] = field(default_factory=dict)
    scrapes: list[Scrape] = field(default_factory=list)
    whole_bytes: int = 0
    """Where the last whole line ends."""


def spool_of(database: Path) -> Path:
    """The spool beside ``database``."""
    return database.with_name(f"{database.name}.spool")


def session_line(session: Session) -> bytes:
    """The line that begins a session."""
    return _line({"session": [*_fields(session)]})


def stop_line(session_id: int, stopped_at: datetime) -> bytes:
    """The line that ends a session."""
    return _line({"stop": [session_id, _micros(stopped_at)]})


def scrape_line(scrape: Scrape) -> bytes:
    """The line of a scrape."""
    entry: dict[str, Any] = {
        "scrape": [
            scrape.scrape_id,
            scrape.session_id,
            scrape.sequence_number,
            _micros(scrape.scraped_at),
            round(scrape.scrape_duration_ms, 3),
            scrape.status,
            scrape.error,
        ]
    }
    if scrape.series:
        entry["series"] = [
            [each.series_id, each.metric, each.metric_type, each.labels] for each in scrape.series
        ]
    if scrape.points:
        entry["ids"] = [number for number, _ in scrape.points]
        entry["values"] = [value for _, value in scrape.points]
    return _line(entry)


def read_spool(path: Path) -> SpoolContent:
    """Every whole line of the spool at ``path``; nothing where there is none.

    Raises:
        StoreError: a whole line is none of ours.
    """
    content = SpoolContent()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return content
    content.whole_bytes = data.rfind(b"\n") + 1
    for number, line in enumerate(data[: content.whole_bytes].splitlines(), 1):
        try:
            _take(json.loads(line), content)
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(
                f"line {number} is no line of a collector: {type(error).__name__}",
                where=path.name,
                remedy="move the file away: the database beside it is whole, up to its last fold",
            ) from None
    return content


def _take(entry: Mapping[str, Any], content: SpoolContent) -> None:
    if "session" in entry:
        number, name, started, url, interval, pid = entry["session"]
        content.sessions.append(Session(int(number), name, _moment(started), url, float(interval), int(pid)))
    elif "stop" in entry:
        number, stopped = entry["stop"]
        content.stops[int(number)] = _moment(stopped)
    else:
        number, session, sequence, at, duration, status, error = entry["scrape"]
        points = zip(entry.get("ids", ()), entry.get("values", ()), strict=True)
        content.scrapes.append(
            Scrape(
                int(number),
                int(session),
                int(sequence),
                _moment(at),
                float(duration),
                status,
                error,
                tuple(points),
                tuple(SeriesName(*each) for each in entry.get("series", ())),
            )
        )


def _fields(session: Session) -> Iterable[Any]:
    return (
        session.session_id,
        session.session_name,
        _micros(session.started_at),
        session.metrics_url,
        session.interval_seconds,
        session.collector_pid,
    )


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


def _moment(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / 1_000_000, UTC)
