"""Detaching: hands a plan over to a runner that outlives the terminal it was started from."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from runner.engine.journal import read_state
from runner.engine.places import Places
from runner.engine.processes import identify
from runner.errors import ConfigurationError
from runner.records import Part

TAKE_UP_SECONDS = 120.0
LOOK_SECONDS = 0.05
LAST_LINES = 15


class Order(Part):
    """What the detached runner is asked to do; in a file, as a command line can be read by everybody."""

    flags: dict[str, object]
    """Settings that may differ from those of the plan, by name."""
    stream: bool = False
    verbose: bool = False


def read_order(path: Path) -> Order:
    """The order at ``path``."""
    return Order.model_validate_json(path.read_bytes())


def detach(
    places: Places, plan_id: str, order: Order, environment: Mapping[str, str], say: Callable[[str], None]
) -> int:
    """Start a runner of the plan in a session of its own and wait until it is at work; returns an exit code.

    It has no terminal: its input is closed, what it prints goes to a log. It gets ``environment``, which
    holds the keys.

    Raises:
        ConfigurationError: it ended before it took up the plan.
    """
    path, log = places.order(plan_id), places.log(plan_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(order.model_dump_json().encode())
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "runner.engine.detached", str(places.root), plan_id],
            cwd=places.root,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _wait_until_at_work(process, places, plan_id)
    shown = os.path.relpath(log, places.root)
    for line in (
        f"The run goes on without this terminal, as process {process.pid}.",
        f"plan: {plan_id}",
        f"log: {shown}",
        f"look at it: invoke status --plan {plan_id} --follow",
        f"stop it: invoke stop --plan {plan_id}",
    ):
        say(line)
    # It is not waited for: whoever adopts it does that.
    process.returncode = 0
    return 0


def _wait_until_at_work(process: subprocess.Popen[bytes], places: Places, plan_id: str) -> None:
    deadline = time.monotonic() + TAKE_UP_SECONDS
    while time.monotonic() < deadline:
        state = read_state(places.state(plan_id))
        # An earlier runner may have had the number: after a restart of a container, numbers come again.
        if state is not None and state.pid == process.pid and state.writer == identify(process.pid):
            return
        if process.poll() is not None:
            lines = places.log(plan_id).read_text(encoding="utf-8", errors="replace").splitlines()
            raise ConfigurationError(
                "the detached runner ended before it took up the plan:\n    "
                + "\n    ".join(lines[-LAST_LINES:]),
                where=os.path.relpath(places.log(plan_id), places.root),
                remedy=f"put that right, then: invoke run --resume {plan_id} --detach",
            )
        time.sleep(LOOK_SECONDS)
