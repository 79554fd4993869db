"""Cassette: recorded turns of one scripted model for the tasks of one dataset, read from JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from runner.errors import ConfigurationError
from runner.records import Part
from runner.replay.turns import Turn

MAX_BYTES = 16_000_000
SHOWN_FAULTS = 50


class Header(Part):
    """First line of a cassette file."""

    kind: Literal["cassette"]
    schema_version: Literal[1]
    dataset: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=120)
    model: str = Field(min_length=1, max_length=300)
    context_window: int = Field(ge=1, description="told to clients as max_model_len")
    note: str = Field(min_length=1, description="says that the turns and their token counts are scripted")


@dataclass(frozen=True)
class Cassette:
    """A header and, by task and invocation, the turns in order. The last turn of each has no actions."""

    header: Header
    turns: Mapping[tuple[str, str], tuple[Turn, ...]]

    def tasks(self) -> tuple[str, ...]:
        """Tasks that have turns, in the order of the file."""
        return tuple(dict.fromkeys(task for task, _ in self.turns))

    def turn_after(self, task: str, invocation: str, tool_results: int) -> Turn | None:
        """The turn that answers a conversation holding ``tool_results`` results, None if there is none.

        The step follows from the conversation alone, so a repeated request gets the same turn again.
        """
        done = 0
        for turn in self.turns.get((task, invocation), ()):
            if done == tool_results:
                return turn
            done += len(turn.actions)
        return None


def load_cassette(path: Path) -> Cassette:
    """The cassette in ``path``.

    Raises:
        ConfigurationError: it has faults; the message lists them all with file and line.
    """
    try:
        size = path.stat().st_size
        text = path.read_bytes().decode() if size <= MAX_BYTES else None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the cassette cannot be read: {error}", where=str(path)) from None
    if text is None:
        raise ConfigurationError(f"the cassette is larger than {MAX_BYTES} bytes", where=str(path))
    cassette, faults = parse_cassette(text)
    if faults or cassette is None:
        listed = [f"{path.name}:{line}: {fault}" for line, fault in faults[:SHOWN_FAULTS]]
        if len(faults) > SHOWN_FAULTS:
            listed.append(f"and {len(faults) - SHOWN_FAULTS} more")
        raise ConfigurationError(
            f"the cassette has {len(faults)} fault{'s' if len(faults) != 1 else ''}\n" + "\n".join(listed),
            where=str(path),
            remedy="put the named lines right, or write the file again from its script",
        )
    return cassette


def parse_cassette(text: str) -> tuple[Cassette | None, list[tuple[int, str]]]:
    """The cassette in ``text``, or None with every fault as (line, what is wrong)."""
    faults: list[tuple[int, str]] = []
    header: Header | None = None
    turns: list[tuple[int, Turn]] = []
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        return None, [(1, "the file is empty; its first line must be the header")]
    for position, (number, line) in enumerate(lines):
        kind = Header if position == 0 else Turn
        try:
            json.loads(line, object_pairs_hook=_no_double_keys)
            parsed = kind.model_validate_json(line)
        except ValidationError as error:
            faults += [(number, _fault_text(kind.__name__.lower(), detail)) for detail in error.errors()]
        except (ValueError, RecursionError) as error:
            faults.append((number, f"not a JSON object: {error}"))
        else:
            if isinstance(parsed, Header):
                header = parsed
            else:
                turns.append((number, parsed))
    by_task = _in_order(turns, faults, complete=not faults)
    faults.sort()
    return (Cassette(header, by_task) if header and not faults else None), faults


def _no_double_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"key {key!r} is given twice")
    return dict(pairs)


def _fault_text(kind: str, detail: Mapping[str, object]) -> str:
    location = detail["loc"]
    place = ".".join(str(part) for part in location) if isinstance(location, tuple) else ""
    return f"{kind}{'.' + place if place else ''}: {detail['msg']}"


def _in_order(
    turns: list[tuple[int, Turn]], faults: list[tuple[int, str]], *, complete: bool
) -> dict[tuple[str, str], tuple[Turn, ...]]:
    """Turns by task and invocation. Gaps are only looked for in a file whose lines all could be read."""
    by_task: dict[tuple[str, str], list[tuple[int, Turn]]] = {}
    for number, turn in turns:
        seen = by_task.setdefault((turn.task, turn.invocation), [])
        if complete and turn.step != len(seen):
            faults.append((number, f"task {turn.task!r}: step {turn.step} where step {len(seen)} is next"))
        seen.append((number, turn))
    if complete:
        for (task, _), seen in by_task.items():
            for number, turn in seen[:-1]:
                if not turn.actions:
                    faults.append((number, f"task {task!r}: a turn without actions ends it, yet more follow"))
            if seen[-1][1].actions:
                faults.append((seen[-1][0], f"task {task!r}: the last turn must be one without actions"))
    return {key: tuple(turn for _, turn in seen) for key, seen in by_task.items()}
