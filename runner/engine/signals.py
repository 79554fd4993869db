"""Signals: Ctrl-C and the polite signal, heard at once and by a thread that may take locks."""

from __future__ import annotations

import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

STOPPING = (signal.SIGINT, signal.SIGTERM)
KICK = signal.SIGURG
"""Ignored by whoever does not know it; here it only ends a wait of the main thread."""
KICKS, KICK_SECONDS = 5, 0.02


@contextmanager
def heard(
    press: Callable[[signal.Signals], object], *, at_once: Callable[[], None] = lambda: None
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
        """Press for each signal in turn until there is no more."""
        while (number := numbers.get()) is not None:
            # The terminal that it is told may be gone; the next signal is to be heard all the same.
            with suppress(OSError):
                press(signal.Signals(number))

    def handle(number: int, _frame: object) -> None:
        """Note the signal, and do what cannot wait."""
        numbers.put(number)
        at_once()

    listener = threading.Thread(target=listen, name="signals", daemon=True)
    listener.start()
    with _woken():
        before = {number: signal.signal(number, handle) for number in STOPPING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            numbers.put(None)
            listener.join()


@contextmanager
def _woken() -> Iterator[None]:
    """While open, the main thread handles a signal at once also where the system gave it to another thread.

    It does so while another thread starts a child, about once in a hundred times; a main thread that waits
    for a lock then sleeps on, and its handler with it. The interpreter writes each signal into a descriptor,
    from whichever thread; who reads it there sends the main thread a signal of its own.
    """
    main = threading.main_thread().ident
    reader, writer = socket.socketpair()
    writer.setblocking(False)

    def wake() -> None:
        """Kick the main thread for each signal to stop that arrived."""
        while arrived := reader.recv(64):
            if main is None or not set(arrived) & set(STOPPING):
                continue
            # One that comes in the moment before a wait begins ends nothing.
            for _ in range(KICKS):
                signal.pthread_kill(main, KICK)
                time.sleep(KICK_SECONDS)

    waker = threading.Thread(target=wake, name="waker", daemon=True)
    waker.start()
    kick = signal.signal(KICK, lambda *_: None)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writer.close()
        waker.join()
        signal.signal(KICK, kick)
        reader.close()
