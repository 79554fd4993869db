"""Keeper: runs the client of a container runtime and removes the container, however either of them ends.

A program of its own: only the standard library, started as ``python -I -S keeper.py RUNTIME NAME -- CLIENT``.
The client's end is not the container's: a killed client leaves it running. A second process, which is not
reached by whoever kills us, waits for our end and removes it too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

CANNOT_RUN = 127


def main(arguments: list[str]) -> int:
    """Run the client; returns its exit code, 128 + n for signal n."""
    runtime, name, _, *client = arguments
    done = guard(runtime, name)
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        code = subprocess.call(client)
    except OSError as error:
        sys.stderr.write(f"{runtime} cannot be run: {error.strerror}\n")
        return CANNOT_RUN
    remove(runtime, name)
    os.write(done, b"done")
    return code if code >= 0 else 128 - code


def guard(runtime: str, name: str) -> int:
    """Start a process outside our group that removes the container when we are no more.

    Returns:
        A descriptor: something written to it tells the guard that there is nothing left to do.
    """
    ended, held = os.pipe()
    if os.fork():
        os.close(ended)
        os.wait()
        return held
    os.setsid()
    if os.fork():
        os._exit(0)
    os.close(held)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    if not os.read(ended, 1):
        remove(runtime, name)
    os._exit(0)


def remove(runtime: str, name: str) -> None:
    """End the container at once and forget it; one that is gone already is no fault."""
    for words in (["kill", name], ["rm", "--force", name]):
        subprocess.call(
            [runtime, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
