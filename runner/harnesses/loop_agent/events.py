"""Events: what the agent says about itself, one JSON object a line.

start    format, model, limits, default_turns, not_enforced (limits that cannot be kept, with the reason)
request  turn, attempt: a request is about to be sent
turn     turn, usage {prompt, cached, completion, reasoning: a count or null} or null, finish, text,
         calls, seconds
tool     turn, name, ok, seconds, arguments, result
retry    turn, attempt, kind, reason, status, wait_seconds, usage_lost
lost     turn, kind, reason: the last request got no whole answer, though the server may have worked on it
end      stop_reason, is_error, error, limit_hit, turns, retries, usage (sums or null), cost_usd,
         not_enforced

Every line also has ``event`` and ``at``, seconds since the start.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

FORMAT = 1
SHOWN_CHARS = 4000


@dataclass(frozen=True)
class Voice:
    """Writes events to a stream, each line flushed so that a killed run keeps what it said."""

    stream: IO[bytes]
    hidden: str = field(default="", repr=False)
    """The key, which never appears even where a server echoes it."""
    clock: Callable[[], float] = time.monotonic
    began: float = field(default_factory=time.monotonic)

    def say(self, event: str, **fields: object) -> None:
        """Write one event."""
        document = {"event": event, "at": round(self.clock() - self.began, 4), **fields}
        line = json.dumps(document, ensure_ascii=True)
        if len(self.hidden) >= 8:
            line = line.replace(json.dumps(self.hidden)[1:-1], "[key]")
        self.stream.write(line.encode() + b"\n")
        self.stream.flush()


def brief(text: str) -> str:
    """``text``, cut in the middle when it is long."""
    if len(text) <= SHOWN_CHARS:
        return text
    half = SHOWN_CHARS // 2
    return f"{text[:half]}\n... {len(text) - SHOWN_CHARS} characters left out ...\n{text[-half:]}"
