"""Status command: ``invoke status`` from its flags to its exit code."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.live import Live
from rich.text import Text

from runner.engine.places import Places
from runner.engine.standing import Standing, standing_lines
from runner.engine.status import Status
from runner.engine.status_text import status_lines
from runner.engine.tally import EXIT_DONE, EXIT_PARTIAL
from runner.engine.works import Unreadable, all_works, find_work

LOOK_SECONDS = 2.0
CALM_SECONDS = 10.0
"""Between two looks at a benchmark or a sweep: who reads its files takes the processor from what it times."""


def status_command(
    places: Places,
    console: Console,
    *,
    plan_id: str | None = None,
    follow: bool = False,
    as_json: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Show where a run, a benchmark or a sweep stands, and which others are unfinished.

    Args:
        plan_id: id of one of them; None for the newest.
        follow: show it anew until nobody is at work on it.

    Returns:
        0 where all is done or somebody is at work on it; 3 where something is left and nobody is.

    Raises:
        UsageError: there is no such one.
    """
    work = find_work(plan_id, places)
    others = () if plan_id else tuple(unfinished(places, but=work.identifier))

    def look() -> Status | Standing:
        """Where the work stands now."""
        return work.look(datetime.now(UTC))

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


def unfinished(places: Places, but: str | None = None) -> list[Status | Standing | Unreadable]:
    """Every run, benchmark and sweep of which something is left, the newest first; without ``but``."""
    now = datetime.now(UTC)
    found = (work.unfinished(now) for work in all_works(places) if work.identifier != but)
    return [each for each in found if each is not None]


def lines_of(status: Status | Standing, now: datetime) -> list[str]:
    """Where it stands, in words."""
    return status_lines(status, now) if isinstance(status, Status) else list(standing_lines(status, now))


def unfinished_lines(others: Sequence[Status | Standing | Unreadable]) -> list[str]:
    """Others that are not finished, one line each."""
    return [
        f"cannot be read: {each.kind} {each.identifier}: {each.why}; invoke verify"
        if isinstance(each, Unreadable)
        else f"also unfinished: {_name(each)}: {each.done} of {each.planned} done, {_to_judge(each)}"
        f"runner {each.runner.state}" + (f"; {each.resume}" if each.resume else "")
        for each in others
    ]


def _name(status: Status | Standing) -> str:
    return status.plan_id if isinstance(status, Status) else f"{status.kind} {status.identifier}"


def _to_judge(status: Status | Standing) -> str:
    return f"{status.to_judge} to judge, " if isinstance(status, Status) and status.to_judge else ""


def _shown(status: Status | Standing, console: Console) -> Status | Standing:
    for line in lines_of(status, datetime.now(UTC)):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return status


def _followed(
    look: Callable[[], Status | Standing], console: Console, sleep: Callable[[float], None]
) -> Status | Standing:
    """Show it anew every few seconds until nobody is at work; without a terminal, when something ended."""
    status = look()
    seconds = LOOK_SECONDS if isinstance(status, Status) else CALM_SECONDS
    if not console.is_terminal:
        _shown(status, console)
        while status.runner.is_alive:
            sleep(seconds)
            before, status = status, look()
            if (before.done, before.runner.state) != (status.done, status.runner.state):
                _shown(status, console)
        return status
    with Live(console=console, auto_refresh=False) as live:
        while True:
            live.update(Text("\n".join(lines_of(status, datetime.now(UTC)))), refresh=True)
            if not status.runner.is_alive:
                return status
            sleep(seconds)
            status = look()
