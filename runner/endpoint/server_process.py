"""Server process: a child that says one line when it answers, and serves until its input is closed."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from runner.errors import EndpointError

STOP_SECONDS = 5.0


class ServerProcess:
    """Started when it is made; ``said`` is its line, without blanks around it.

    Args:
        command: program and arguments.
        what: what it is called where it does not start.
        own_session: keep Ctrl-C in a terminal from it.

    Raises:
        EndpointError: it ended without a line.
    """

    def __init__(self, command: Sequence[str], what: str, *, own_session: bool = False) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=own_session
        )
        self.said = ""
        try:
            self.said = self._process.stdout.readline().decode().strip() if self._process.stdout else ""
            if not self.said:
                raise EndpointError(f"{what} did not start", where=" ".join(command[:3]))
        finally:
            if not self.said:
                self.end()

    def end(self) -> None:
        """Close its pipes and wait for its end; one that takes longer than ``STOP_SECONDS`` is killed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
