"""Status command: ``invoke status`` from its flags to its exit code."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime

from rich.console import Console
from rich.live import Live
from rich.text import Text

from runner.engine.places import Places
from runner.engine.resuming import all_plans, find_any_plan, pending
from runner.engine.status import Status, status_of
from runner.engine.status_text import status_lines, unfinished_lines
from runner.engine.tally import EXIT_DONE, EXIT_PARTIAL

LOOK_SECONDS = 2.0


def status_command(
    places: Places,
    console: Console,
    *,
    plan_id: str | None = None,
    follow: bool = False,
    as_json: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Show where a plan stands (the newest when no id is given), and which others are unfinished.

    Returns:
        0 where all is done or somebody is at work on it; 3 where something is left and nobody is.

    Raises:
        UsageError: there is no such plan.
    """
    plan, store = find_any_plan(plan_id, places)
    others = () if plan_id else tuple(each for each in unfinished(places) if each.plan_id != plan.plan_id)

    def look() -> Status:
        return status_of(plan, store, places, datetime.now(UTC))

    if as_json:
        status = look()
        body = {
            "status": status.model_dump(mode="json"),
            "unfinished": [each.model_dump(mode="json") for each in others],
        }
        console.print(json.dumps(body), markup=False, highlight=False, soft_wrap=True)
    else:
        status = _followed(look, console, sleep) if follow else _shown(look(), console)
        for line in unfinished_lines(others):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    return EXIT_PARTIAL if status.resume else EXIT_DONE


def unfinished(places: Places) -> list[Status]:
    """Every plan of which something is left, the newest first."""
    now = datetime.now(UTC)
    found = [(plan, store) for plan, store in all_plans(places) if pending(plan, store)]
    found.sort(key=lambda each: (str(each[0].created_at), each[0].plan_id), reverse=True)
    return [status_of(plan, store, places, now) for plan, store in found]


def _shown(status: Status, console: Console) -> Status:
    for line in status_lines(status, datetime.now(UTC)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return status


def _followed(look: Callable[[], Status], console: Console, sleep: Callable[[float], None]) -> Status:
    """Show it anew every few seconds until nobody is at work; without a terminal, when something ended."""
    status = look()
    if not console.is_terminal:
        _shown(status, console)
        while status.runner.is_alive:
            sleep(LOOK_SECONDS)
            before, status = status, look()
            if (before.done, before.runner.state) != (status.done, status.runner.state):
                _shown(status, console)
        return status
    with Live(console=console, auto_refresh=False) as live:
        while True:
            live.update(Text("\n".join(status_lines(status, datetime.now(UTC)))), refresh=True)
            if not status.runner.is_alive:
                return status
            sleep(LOOK_SECONDS)
            status = look()
