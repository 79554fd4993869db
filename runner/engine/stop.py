"""Stop: how a user ends a run: first no new trials, then the trials in flight too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal


class Interrupted(Exception):
    """The user wants no new trials while something is waited for that only new trials need."""


@dataclass
class Stop:
    """What the user wants by now."""

    no_more: threading.Event = field(default_factory=threading.Event)
    now: threading.Event = field(default_factory=threading.Event)
    _is_waiting: bool = field(default=False, init=False)

    def press(self) -> bool:
        """One press of Ctrl-C. True when it was the second one. Not for a signal handler: it takes a lock."""
        if self.no_more.is_set():
            self.now.set()
        self.no_more.set()
        return self.now.is_set()

    def interrupt(self) -> None:
        """End a wait in the main thread; for a signal handler, which runs there.

        Raises:
            Interrupted: the main thread waits.
        """
        if self._is_waiting:
            self._is_waiting = False
            raise Interrupted

    def state(self) -> Literal["", "no more", "now"]:
        """What the user wants, in a word."""
        if self.now.is_set():
            return "now"
        return "no more" if self.no_more.is_set() else ""

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """While open, a press ends what goes on in the main thread, by :class:`Interrupted`."""
        try:
            self._is_waiting = True
            if self.no_more.is_set():
                raise Interrupted
            yield
        except Interrupted:
            # The handler that raised it has only left word of the press; who hears of it sets the event.
            self.no_more.wait()
            raise
        finally:
            self._is_waiting = False
