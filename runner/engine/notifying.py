"""Notifying: a command of the user's is run when something happens that somebody asleep should know."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from runner.engine.tally import RunSummary
from runner.errors import ConfigurationError
from runner.secrets import known_secrets

TIMEOUT_SECONDS = 30.0
Event = Literal["ended", "budget", "model-failed", "failed"]


def notify_command(text: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The arguments of the command that ``text`` says; no shell reads it.

    Raises:
        ConfigurationError: it cannot be read, or there is no such program.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigurationError(f"cannot be read: {error}", where="notify") from None
    if not words or shutil.which(words[0], path=environment.get("PATH", os.defpath)) is None:
        shown = words[0] if words else "nothing"
        raise ConfigurationError(
            f"there is no program {shown} to notify with",
            where="notify",
            remedy="give its whole path; no shell is involved, so put pipes and variables into a script",
        )
    return words


def without_secrets(environment: Mapping[str, str], names: tuple[str, ...] = ()) -> dict[str, str]:
    """``environment`` without variables that hold a key or a password.

    Args:
        environment: all variables.
        names: variables known to hold a key.
    """
    secret = known_secrets(environment, names)
    values = set(secret.values())
    return {
        name: value
        for name, value in environment.items()
        if name not in secret and name not in names and not any(each in value for each in values)
    }


@dataclass
class Notifier:
    """Runs the command in a thread of its own, one event after the other; its failure is noted, never fatal.

    Args:
        command: program and arguments; empty for no notification.
        environment: what the command sees beside ``HARNESSMARK_*``; holds no secret.
        folder: where it runs.
        note: told when the command fails.
    """

    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path = field(default_factory=Path.cwd)
    note: Callable[[str], None] = lambda _: None
    timeout_seconds: float = TIMEOUT_SECONDS
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "notifying"), init=False, repr=False
    )

    def tell(
        self, event: Event, summary: RunSummary, *, reason: str = "", exit_code: int | None = None
    ) -> None:
        """Run the command for ``event``; returns at once."""
        if not self.command:
            return
        message = _message(event, summary, reason, exit_code)
        variables = {
            "HARNESSMARK_EVENT": event,
            "HARNESSMARK_PLAN": summary.plan_id,
            "HARNESSMARK_PLANNED": str(summary.planned),
            "HARNESSMARK_FINISHED": str(summary.finished),
            "HARNESSMARK_REASON": " ".join(reason.replace("\0", " ").split()),
        }
        if exit_code is not None:
            variables["HARNESSMARK_EXIT_CODE"] = str(exit_code)
        self._pool.submit(self._run, event, message, variables)

    def close(self) -> None:
        """Wait for the commands that run."""
        self._pool.shutdown(wait=True)

    def _run(self, event: Event, message: bytes, variables: Mapping[str, str]) -> None:
        try:
            process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env={**self.environment, **variables},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self.note(f"the notification of {event!r} could not be sent: {error}")
            return
        with process:
            try:
                process.communicate(message, timeout=self.timeout_seconds)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                self.note(f"the notification of {event!r} was stopped after {self.timeout_seconds:g} seconds")
                return
        if process.returncode != 0:
            self.note(f"the command that notifies of {event!r} ended with code {process.returncode}")


def _message(event: Event, summary: RunSummary, reason: str, exit_code: int | None) -> bytes:
    body = {
        "event": event,
        "reason": reason,
        "plan": summary.plan_id,
        "exit_code": exit_code,
        "planned": summary.planned,
        "finished": summary.finished,
        "left": summary.planned - summary.finished,
        "outcomes": dict(summary.outcomes),
        "graded": summary.graded,
        "untested": summary.untested,
        "resolved": summary.resolved,
        "spent_usd": summary.spent_usd,
        "unpriced": summary.unpriced,
        "tokens": summary.tokens,
        "models_failed": [each.model_dump(mode="json") for each in summary.failed],
        "not_judged": dict(summary.not_judged),
    }
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
