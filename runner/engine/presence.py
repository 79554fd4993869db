"""Presence: what a runner of a benchmark or a sweep says of itself while it works."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from runner.engine.journal import Journal, RunState, Stopping
from runner.engine.processes import identify
from runner.errors import HarnessmarkError


@contextmanager
def present(
    path: Path, identifier: str, stopping: Callable[[], Stopping], *, concurrency: int = 1
) -> Iterator[Journal]:
    """While open, a sign of life is written to ``path`` every few seconds.

    What is done and left is not in it: the files of the measurement tell that, so that nothing is written
    beside a measured stream but a few hundred bytes from a thread of its own.

    Args:
        path: file of the state.
        identifier: the benchmark or the sweep.
        stopping: what the user wants by now.
        concurrency: trials at a time.
    """
    process, now = identify(os.getpid()), datetime.now(UTC)
    first = RunState(
        plan_id=identifier,
        pid=os.getpid(),
        started=None if process is None else process.started,
        begun_at=now,
        heartbeat=now,
        concurrency=concurrency,
    )
    with Journal(path, first, stopping=stopping) as journal:
        try:
            yield journal
        except HarnessmarkError:
            raise
        except KeyboardInterrupt:
            # Whoever works ended it; that is no failure.
            journal.end(exit_code=None)
            raise
        except BaseException as error:
            # The words of a foreign fault may hold anything, a key too.
            journal.end(exit_code=None, failure=type(error).__name__)
            raise
        journal.end(exit_code=None)
