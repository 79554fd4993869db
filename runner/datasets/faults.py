"""Fault: one thing that is wrong in a dataset file, and the report of all of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from runner.errors import DatasetError

Location: TypeAlias = "tuple[str | int, ...]"

MAX_SHOWN = 200


@dataclass(frozen=True)
class Fault:
    """What is wrong, at which key, on which line."""

    location: Location
    line: int | None
    message: str


def report(path: Path, faults: Iterable[Fault], root: object) -> DatasetError:
    """One error that lists every fault: file, line, dotted key and message, in the order of lines."""
    ordered = sorted(
        dict.fromkeys(faults),
        key=lambda fault: (fault.line or 0, dotted(fault.location, root), fault.message),
    )
    shown = [_one_line(path, fault, root) for fault in ordered[:MAX_SHOWN]]
    if len(ordered) > MAX_SHOWN:
        shown.append(f"{path.name}: and {len(ordered) - MAX_SHOWN} more")
    count = "1 fault" if len(ordered) == 1 else f"{len(ordered)} faults"
    return DatasetError(
        f"{count} in the dataset {path.name}\n" + "\n".join(f"  {line}" for line in shown),
        where=str(path),
        remedy="correct the lines above; the keys are described on the page about datasets",
    )


def dotted(location: Location, root: object) -> str:
    """``tasks[remove-faiss].checks[0].command``: a task is named by its id where it has one."""
    name = ""
    value = root
    for part in location:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
            label = value.get("id") if isinstance(value, dict) and name == "tasks" else None
            name += f"[{_short(label) if isinstance(label, str) and label else part}]"
        else:
            value = value.get(part) if isinstance(value, dict) else None
            name += f".{_short(part)}" if name else _short(part)
    return name


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the closest known name, or nothing."""
    close = difflib.get_close_matches(name[:100], list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Names joined with commas, cut after ``limit``."""
    more = f", and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _one_line(path: Path, fault: Fault, root: object) -> str:
    place = path.name if fault.line is None else f"{path.name}:{fault.line}"
    key = dotted(fault.location, root)
    return f"{place}: {key}: {fault.message}" if key else f"{place}: {fault.message}"


def _short(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else "?" for letter in text)
    return printable if len(printable) <= 60 else printable[:57] + "..."
