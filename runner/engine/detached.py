"""Detached: the process that runs a plan without a terminal (``python -m runner.engine.detached``)."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, TextIO, cast

from rich.console import Console

from runner.engine.command import run_command
from runner.engine.detaching import read_order
from runner.engine.places import Places
from runner.errors import HarnessmarkError

WIDTH = 160


class Stamped:
    """A text file whose lines begin with the time at which they were written."""

    def __init__(self, file: TextIO, now: Callable[[], datetime] = datetime.now) -> None:
        self._file, self._now = file, now
        self._begins = True

    def write(self, text: str) -> int:
        """Write ``text``, each new line with its time."""
        for line in text.splitlines(keepends=True):
            if self._begins and line.strip():
                self._file.write(f"{self._now():%Y-%m-%d %H:%M:%S} ")
            self._file.write(line)
            self._begins = line.endswith("\n")
        return len(text)

    def flush(self) -> None:
        """Let everything be seen."""
        self._file.flush()


def main(arguments: Sequence[str]) -> int:
    """Run the plan ``arguments[1]`` of the project at ``arguments[0]``; returns the exit code."""
    places, plan_id = Places(Path(arguments[0])), arguments[1]
    # Nothing of this is for an agent: a handler, unlike an ignored signal, is not inherited.
    signal.signal(signal.SIGHUP, lambda *_: None)
    console = Console(file=cast(IO[str], Stamped(sys.stdout)), width=WIDTH)
    order = read_order(places.order(plan_id))
    try:
        return run_command(
            places,
            console,
            config=None,
            flags=order.flags,
            environment=os.environ,
            resume=plan_id,
            stream=order.stream,
            verbose=order.verbose,
            log=places.log(plan_id),
        )
    except HarnessmarkError as error:
        console.print(error.message(), markup=False, highlight=False, soft_wrap=True)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
