"""Child: one child process of the publisher, with its output kept for the message when it fails."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.errors import PublishError

SHOWN_LINES = 40


@dataclass(frozen=True)
class Finished:
    """How a child process ended."""

    command: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str

    def output(self) -> str:
        """Both streams, shortened to the last lines, as an error message shows them."""
        lines = [line for line in (self.stderr + "\n" + self.stdout).splitlines() if line.strip()]
        omitted = len(lines) - SHOWN_LINES
        head = [f"... {omitted} lines before"] if omitted > 0 else []
        return indented([*head, *lines[-SHOWN_LINES:]])


def indented(lines: Sequence[str]) -> str:
    """``lines`` as they stand inside an error message, the first ones only when there are very many."""
    left = len(lines) - SHOWN_LINES - 1
    rest = [f"... and {left} more"] if left > 0 else []
    return "\n".join(f"    {line}" for line in [*lines[: SHOWN_LINES + 1], *rest])


def run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    timeout_seconds: float = 900,
    stdin: str = "",
) -> Finished:
    """Run ``command`` in ``folder`` and wait; a non-zero exit is the caller's to judge.

    Raises:
        PublishError: the program is not installed, or it did not end in time.
    """
    try:
        ended = subprocess.run(
            list(command),
            cwd=folder,
            env=dict(environment),
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_seconds,
            check=False,
        )
    except FileNotFoundError as error:
        raise PublishError(
            f"{command[0]} is not installed",
            where=" ".join(command[:3]),
            remedy="install it (git through your system's package manager; all else comes with the package)",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise PublishError(
            f"{Path(command[0]).name} did not end within {timeout_seconds:.0f} seconds",
            where=" ".join(command[:4]),
            remedy="look for a very large page below build/docs, then try again",
        ) from error
    return Finished(tuple(command), ended.returncode, ended.stdout, ended.stderr)
