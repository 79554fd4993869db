"""Document: a YAML file as plain data that remembers the line of every key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from runner.datasets.faults import Fault, Location

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

MAX_BYTES = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 20

_NULL = "tag:yaml.org,2002:null"
_TEXT = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "timestamp", "value")}
_MERGE = "tag:yaml.org,2002:merge"


@dataclass
class Document:
    """Plain data of a file. Every scalar is text as it was written: ``ref: 1.20`` is ``"1.20"``."""

    root: dict[str, Value] = field(default_factory=dict)
    lines: dict[Location, int] = field(default_factory=dict)
    """Line, counted from one, of the key or list item at a location."""
    faults: list[Fault] = field(default_factory=list)

    def line(self, location: Location) -> int | None:
        """Line of ``location``, or of the closest thing around it."""
        for length in range(len(location), 0, -1):
            found = self.lines.get(location[:length])
            if found is not None:
                return found
        return None


class _TooLarge(yaml.YAMLError):
    """More nodes, or deeper ones, than a dataset can have."""


class _Composer(yaml.SafeLoader):
    """Composes nodes, never objects, within bounds on their number and depth."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = 0
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """One node with all below it; counts nodes and depth."""
        self._nodes += 1
        self._depth += 1
        if self._nodes > MAX_NODES or self._depth > MAX_DEPTH:
            raise _TooLarge
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def read_document(data: bytes) -> Document:
    """The file in ``data``; whatever is wrong with it as YAML stands in ``faults``."""
    document = Document()
    if len(data) > MAX_BYTES:
        document.faults.append(Fault((), None, f"{len(data):,} bytes; a dataset has at most {MAX_BYTES:,}"))
        return document
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        document.faults.append(Fault((), line, "not UTF-8 text; save the file as UTF-8"))
        return document
    node = _compose(text, document)
    if node is None:
        if not document.faults:
            document.faults.append(Fault((), None, "the file is empty"))
    elif not isinstance(node, yaml.MappingNode):
        what = "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
        document.faults.append(Fault((), _line_of(node), f"expected keys such as 'name:', found {what}"))
    else:
        try:
            built = _Builder(document).build(node, ())
        except _TooLarge:
            document.faults.append(Fault((), None, _too_large()))
        else:
            document.root = built if isinstance(built, dict) else {}
    return document


def _compose(text: str, document: Document) -> yaml.Node | None:
    loader = None
    try:
        loader = _Composer(text)
        node: yaml.Node | None = loader.get_single_node()
    except _TooLarge:
        document.faults.append(Fault((), None, _too_large()))
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        document.faults.append(Fault((), line, "a control character that YAML does not allow"))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        document.faults.append(Fault((), mark.line + 1 if mark else None, f"not YAML: {said[:300]}"))
    except (ValueError, OverflowError):
        document.faults.append(Fault((), None, "not YAML: an escape that stands for no character"))
    else:
        return node
    finally:
        if loader is not None:
            loader.dispose()
    return None


class _Builder:
    """Turns nodes into plain data; aliases are followed within the bound on nodes."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._nodes = 0

    def build(self, node: yaml.Node, location: Location) -> Value:
        """The plain value of a node; what is not allowed becomes a fault."""
        self._nodes += 1
        if self._nodes > MAX_NODES or len(location) > MAX_DEPTH:
            raise _TooLarge
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, location)
        if isinstance(node, yaml.SequenceNode):
            return self._sequence(node, location)
        if node.tag == _NULL:
            return None
        if node.tag not in _TEXT:
            self._fault(location, node, f"the tag {node.tag[:80]!r} is not allowed here; write plain text")
            return ""
        return str(node.value)

    def _sequence(self, node: yaml.SequenceNode, location: Location) -> Value:
        if node.tag != "tag:yaml.org,2002:seq":
            self._fault(location, node, f"the tag {node.tag[:80]!r} is not allowed here")
        items: list[Value] = []
        for index, item in enumerate(node.value):
            place = (*location, index)
            self._document.lines[place] = _line_of(item)
            items.append(self.build(item, place))
        return items

    def _mapping(self, node: yaml.MappingNode, location: Location) -> Value:
        if node.tag != "tag:yaml.org,2002:map":
            self._fault(location, node, f"the tag {node.tag[:80]!r} is not allowed here")
        mapping: dict[str, Value] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag not in _TEXT:
                merge = key_node.tag == _MERGE
                why = (
                    "merge keys (<<) are not read; write the keys out"
                    if merge
                    else "a key must be plain text"
                )
                self._fault(location, key_node, why)
                continue
            key = str(key_node.value)
            place = (*location, key)
            if key in mapping:
                first = self._document.lines[place]
                self._fault(place, key_node, f"stands twice; the first is on line {first}")
                continue
            self._document.lines[place] = _line_of(key_node)
            mapping[key] = self.build(value_node, place)
        return mapping

    def _fault(self, location: Location, node: yaml.Node, message: str) -> None:
        self._document.faults.append(Fault(location, _line_of(node), message))


def _line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _too_large() -> str:
    return f"more than {MAX_NODES:,} values, or deeper than {MAX_DEPTH}; aliases count at every use"


def text_at(mapping: Mapping[str, Value], key: str) -> str | None:
    """The text under ``key``, or None where there is none or something else."""
    value = mapping.get(key)
    return value if isinstance(value, str) else None
