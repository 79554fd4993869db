"""Table: one section of a report, free of any format."""

from __future__ import annotations

from dataclasses import dataclass

CLIENT = "Client bias; lag ms"
Head = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One section. Every cell is plain text; whoever renders it escapes it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
