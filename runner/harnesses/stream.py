"""Stream: the JSON objects of an agent's output file, and the values in them, read without trust."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

MAX_LINE_BYTES = 4_000_000
MAX_DOCUMENT_BYTES = 32_000_000
MAX_VALUES = 3_000_000
"""Values in one document: an empty object takes three bytes of a file and seventy of memory."""
MAX_ERROR = 1000

Event = Mapping[str, object]
NO_END = "the event stream has no end: the agent was stopped or crashed"
"""The error of a run that did not say how it ended."""


def objects(path: Path) -> Iterator[Event]:
    """The JSON objects in ``path``, one a line. Everything else in it, or its absence, is passed over.

    Lines above ``MAX_LINE_BYTES`` are passed over as well, so memory stays bounded.
    """
    stream = opened(path)
    if stream is None:
        return
    with stream:
        whole = True
        while line := stream.readline(MAX_LINE_BYTES):
            begins, whole = whole, line.endswith(b"\n")
            event = parsed(line) if begins and (whole or len(line) < MAX_LINE_BYTES) else None
            if event is not None:
                yield event


def opened(path: Path) -> BinaryIO | None:
    """The file at ``path``, which an agent may have made: a regular one and no link, else None.

    A pipe would be waited for without end, a device read without end.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    return None


def document(data: bytes) -> Event | None:
    """The JSON object that a whole file holds; None where it is none, or one that would fill the memory.

    ``data`` is at most ``MAX_DOCUMENT_BYTES`` of the file.
    """
    if sum(data.count(each) for each in (b",", b"[", b"{")) > MAX_VALUES:
        return None
    return parsed(data.decode("utf-8", "replace"))


def parsed(line: str | bytes) -> Event | None:
    """``line`` as a JSON object, or None where it is none."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def mapping(value: object) -> Event:
    """``value`` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """``value`` where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object, limit: int = MAX_ERROR) -> str:
    """``value`` where it is a string, cut to ``limit`` characters, else nothing."""
    return value[:limit] if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """``value`` where it is a whole number from 0 up, else None."""
    fine = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if fine and isinstance(value, int) else None
