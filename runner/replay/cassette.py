"""Cassette: recorded turns of one scripted model for the tasks of one dataset, read from JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from runner.errors import ConfigurationError
from runner.records import Part
from runner.records.plain_words import in_plain_words
from runner.replay.turns import MAIN_THREAD, Turn

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


class Scene(NamedTuple):
    """Which conversation turns belong to."""

    task: str
    invocation: str = "first"
    skill: str | None = None
    thread: str = MAIN_THREAD
    when: str | None = None


@dataclass(frozen=True)
class Cassette:
    """A header and, by scene, the turns in order. The last turn of each has no actions, or is for ever."""

    header: Header
    turns: Mapping[Scene, tuple[Turn, ...]]

    def tasks(self) -> tuple[str, ...]:
        """Tasks that have turns, in the order of the file."""
        return tuple(dict.fromkeys(scene.task for scene in self.turns))

    def scene_for(self, wanted: Scene, prompt: str = "") -> Scene | None:
        """``wanted`` if it has turns, else the scene of any skill, else None.

        Among those the first one comes first whose ``when`` is in the prompt.
        """
        if wanted in self.turns and wanted.when is not None:
            return wanted
        for asked in (wanted, wanted._replace(skill=None)):
            for scene in self.turns:
                if scene.when and scene.when in prompt and scene._replace(when=None) == asked:
                    return scene
            if asked in self.turns:
                return asked
        return None

    def turn_after(self, wanted: Scene, tool_results: int) -> Turn | None:
        """The turn that answers a conversation holding ``tool_results`` results, None if there is none.

        The step follows from the conversation alone, so a repeated request gets the same turn again.
        """
        scene = self.scene_for(wanted)
        done = 0
        for turn in self.turns[scene] if scene else ():
            if done == tool_results or (turn.forever and done < tool_results):
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
    by_scene = _in_order(turns, faults, complete=not faults)
    faults.sort()
    return (Cassette(header, by_scene) if header and not faults else None), faults


def _no_double_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"key {key!r} is given twice")
    return dict(pairs)


def _fault_text(kind: str, detail: ErrorDetails) -> str:
    place = ".".join(map(str, detail["loc"]))
    return f"{kind}{'.' + place if place else ''}: {in_plain_words(detail)}"


def _in_order(
    turns: list[tuple[int, Turn]], faults: list[tuple[int, str]], *, complete: bool
) -> dict[Scene, tuple[Turn, ...]]:
    """Turns by scene. Gaps are only looked for in a file whose lines all could be read."""
    by_scene: dict[Scene, list[tuple[int, Turn]]] = {}
    for number, turn in turns:
        scene = Scene(turn.task, turn.invocation, turn.skill, turn.thread, turn.when)
        seen = by_scene.setdefault(scene, [])
        if complete and turn.step != len(seen):
            faults.append((number, f"task {turn.task!r}: step {turn.step} where step {len(seen)} is next"))
        seen.append((number, turn))
    if complete:
        for scene, seen in by_scene.items():
            for number, turn in seen[:-1]:
                if not turn.actions:
                    faults.append(
                        (number, f"task {scene.task!r}: a turn without actions ends it, yet more follow")
                    )
                if turn.forever:
                    faults.append((number, f"task {scene.task!r}: a turn is for ever, yet more follow"))
            number, last = seen[-1]
            if last.actions and not last.forever:
                faults.append((number, f"task {scene.task!r}: the last turn must be one without actions"))
    return {scene: tuple(turn for _, turn in seen) for scene, seen in by_scene.items()}
