"""Speaking: lines for a terminal that may be slower than those who speak, or that nobody reads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

MAX_WAITING = 8_000_000
"""Characters of lines that wait to be shown; a line that can be done without is left out above it."""


class Speaker:
    """Shows lines in their order, in a thread of its own; whoever says one never waits for the terminal.

    A context manager; at its end everything that waits is shown. Outside of it lines are shown at once.

    Args:
        show: shows one line; the first argument is what stands before it.
        most: characters that may wait.
    """

    def __init__(self, show: Callable[[str, str], None], most: int = MAX_WAITING) -> None:
        self._show, self._most = show, most
        self._waiting: deque[tuple[str, str]] = deque()
        self._size = self._left_out = 0
        self._open = self._gone = False
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Speaker:
        self._open = True
        self._thread = threading.Thread(target=self._work, name="speaker", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._news:
            self._open = False
            self._news.notify()
        if self._thread is not None:
            self._thread.join()

    def say(self, text: str, before: str = "", *, at_any_rate: bool = True) -> None:
        """Show ``text`` soon; one that is not for ``at_any_rate`` may be left out, which is then said."""
        with self._news:
            if self._gone:
                return
            if self._open:
                if self._size > self._most and not at_any_rate:
                    self._left_out += 1
                    return
                self._waiting.append((before, text))
                self._size += len(text)
                self._news.notify()
                return
        self._show(before, text)

    def _work(self) -> None:
        while True:
            with self._news:
                while not self._waiting and not self._left_out and self._open:
                    self._news.wait()
                if not self._waiting and not self._left_out:
                    return
                if self._waiting:
                    before, text = self._waiting.popleft()
                    self._size -= len(text)
                else:
                    before, text = "", f"  {self._left_out} lines are not shown: they came too fast"
                    self._left_out = 0
            try:
                self._show(before, text)
            except OSError:
                # Whoever read has gone: the run goes on without being watched.
                with self._news:
                    self._gone = True
                    self._waiting.clear()
                return
