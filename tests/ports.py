"""Ports on this machine that nothing else takes while a test holds them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """A port at which nothing listens until a server of the test does, again and again if it likes.

    A socket that is bound and does not listen keeps the system from giving the number to anybody else's
    connection or server; a server that sets ``SO_REUSEADDR``, as those of Python do, may still listen there.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])
