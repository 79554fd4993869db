"""Strict YAML: a safely loaded document that knows its lines and refuses keys given twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from runner.errors import ConfigurationError

Location = tuple[str | int, ...]
MAX_ENTRIES = 100_000
"""More than any file of ours holds; a few lines with aliases of aliases can stand for billions."""


@dataclass(frozen=True)
class StrictDocument:
    """A loaded document and the line of each of its keys."""

    value: object
    lines: Mapping[Location, int]

    def line(self, location: Location) -> int:
        """Line of the key at ``location``, or of the nearest key above it."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)

    def keys_beside(self, location: Location) -> Mapping[str, object]:
        """The mapping that holds the key at ``location``; empty where there is none."""
        value = self.value
        for part in location[:-1]:
            value = value.get(part) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}


def read_strict_yaml(path: Path) -> StrictDocument:
    """The one document in the file at ``path``, with plain values only.

    Raises:
        ConfigurationError: unreadable, not YAML, more than one document, or a key given twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"cannot be read: {error.strerror}", where=str(path), remedy="check the path"
        ) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigurationError(
            f"line {line}: not UTF-8 text", where=str(path), remedy="save the file as UTF-8"
        ) from None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        lines: dict[Location, int] = {}
        _index(node, (), lines, path)
        return StrictDocument(None if node is None else loader.construct_document(node), lines)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigurationError(
            f"not YAML: {yaml_words(error)}", where=str(path), remedy="correct the file"
        ) from None


def yaml_words(error: Exception) -> str:
    """What is wrong with a document and in which line, in one line and without the parser's own names."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None)
    if mark is None or not problem:
        return " ".join(str(error).split())
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}"


def _index(node: yaml.Node | None, location: Location, lines: dict[Location, int], path: Path) -> None:
    if len(lines) > MAX_ENTRIES:
        raise ConfigurationError(
            f"holds more than {MAX_ENTRIES} entries", where=str(path), remedy="write it without aliases"
        )
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            place = (*location, str(key.value))
            if place in lines:
                raise ConfigurationError(
                    f"key {key.value!r} is given twice",
                    where=f"{path}, lines {lines[place]} and {key.start_mark.line + 1}",
                    remedy="delete one of them",
                )
            lines[place] = key.start_mark.line + 1
            _index(value, place, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            lines[(*location, number)] = value.start_mark.line + 1
            _index(value, (*location, number), lines, path)
