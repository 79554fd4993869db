"""Stall: notices an agent that repeats itself, from the lines it prints, whatever its format."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, deque
from collections.abc import Iterator

NAMES = ("name", "toolName", "tool_name", "tool", "command")
ARGUMENTS = ("input", "arguments", "args", "parameters", "command", "rawInput")
IDENTITIES = ("id", "toolCallId", "tool_call_id", "tool_use_id", "call_id", "callID")
FEW = 2
"""So many different actions in turn still count as one that is repeated."""
MAX_DEPTH = 12
REMEMBERED = 4096


class Stall(threading.Event):
    """Set when the last ``limit`` actions of an agent were the same one or two over and over, or by ``also``.

    An action is a tool call with its arguments. Lines that are no JSON tell nothing.

    Args:
        limit: actions; 0 never stops.
        also: another reason to stop; ``repeating`` tells them apart.
    """

    def __init__(self, limit: int, also: threading.Event) -> None:
        super().__init__()
        self.repeating = False
        self.limit = limit
        self._also = also
        self._last: deque[str] = deque(maxlen=max(limit, 1))
        self._seen: deque[str] = deque(maxlen=REMEMBERED)

    def is_set(self) -> bool:
        """Whether the agent is to be stopped."""
        return self.repeating or self._also.is_set()

    def hear(self, line: str) -> None:
        """One line that the agent printed."""
        if self.limit <= 0 or not line.startswith("{"):
            return
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return
        for identity, action in _actions(event, 0):
            if identity is not None:
                # Agents print a call several times: begun, ended, and in a summary.
                if identity in self._seen:
                    continue
                self._seen.append(identity)
            self._last.append(action)
            counts = Counter(self._last)
            few = len(counts) <= FEW and min(counts.values()) > 1
            self.repeating |= len(self._last) == self.limit and (few or self.limit == 1)


def _actions(value: object, depth: int) -> Iterator[tuple[str | None, str]]:
    """Identity and digest of each tool call anywhere in an event."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        name = next((value[key] for key in NAMES if isinstance(value.get(key), str)), None)
        given = next((value[key] for key in ARGUMENTS if value.get(key) is not None), None)
        if name is not None and given is not None:
            content = json.dumps([name, given], sort_keys=True, default=str)
            identity = next((value[key] for key in IDENTITIES if isinstance(value.get(key), str)), None)
            yield identity, hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
            return
        for child in value.values():
            yield from _actions(child, depth + 1)
    elif isinstance(value, list):
        for child in value:
            yield from _actions(child, depth + 1)
