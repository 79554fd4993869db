"""Signals: Ctrl-C and the polite signal, heard by a thread that may take locks, as a handler may not."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def heard(
    press: Callable[[signal.Signals], None], *, at_once: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """While open, each signal to stop calls ``press`` in a thread of its own, in the order of arrival.

    A handler runs in the main thread between any two of its instructions, also between two of an earlier
    handler. One that sets an event or prints can so wait for a lock that it holds itself, for ever; this one
    does nothing but put a number into a queue that is made for it.

    Args:
        press: what a signal means; runs beside the main thread.
        at_once: runs in the handler and may raise, to end a wait of the main thread. It must take no lock.
    """
    numbers: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def listen() -> None:
        while (number := numbers.get()) is not None:
            press(signal.Signals(number))

    def handle(number: int, _frame: object) -> None:
        numbers.put(number)
        at_once()

    listener = threading.Thread(target=listen, name="signals", daemon=True)
    listener.start()
    before = {number: signal.signal(number, handle) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        numbers.put(None)
        listener.join()
