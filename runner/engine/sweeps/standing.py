"""Standing of a sweep: what its folder, its lock and the words of its runner say by now."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from runner.engine.eta import Eta
from runner.engine.lock import is_locked
from runner.engine.places import Places
from runner.engine.standing import Standing, runner_of
from runner.engine.sweeps.keeper import SweepFolder
from runner.engine.tally import EXIT_DONE, EXIT_PARTIAL
from runner.records.nouns import counted


def sweep_standing(folder: SweepFolder, places: Places, now: datetime) -> Standing:
    """Where the sweep in ``folder`` stands.

    Raises:
        StoreError: its files cannot be read.
    """
    order, about, finished = folder.order(), folder.about(), folder.finished()
    left = [level for level in order.levels if level not in finished]
    runner = runner_of(places, folder.sweep_id, now)
    if runner.state == "ended":
        whole = folder.done and not left
        runner = runner.model_copy(update={"exit_code": EXIT_DONE if whole else EXIT_PARTIAL})
    locked = is_locked(places.lock(folder.sweep_id))
    windows = Eta(
        seconds=len(left) * order.window_seconds if not folder.done else 0.0,
        at_least=bool(left) and not folder.done,
        basis=f"{counted(len(left), 'window')} of {order.window_seconds:g} s; "
        "warming up and waiting are not in it"
        if left and not folder.done
        else "nothing is left",
    )
    return Standing(
        kind="sweep",
        identifier=folder.sweep_id,
        about=f"{about.deployment.name} at {', '.join(map(str, order.levels))} sessions",
        demonstration=about.demonstration,
        created_at=begun_at(folder),
        unit="levels",
        planned=len(order.levels),
        done=len(finished),
        skipped=len(left) if folder.done else 0,
        left=0 if folder.done else len(left),
        at_work=f"the level of {left[0]} sessions" if left and runner.is_alive else None,
        measured_seconds=sum(level.window_seconds or 0.0 for level in finished.values()),
        eta=windows,
        runner=runner,
        folder=os.path.relpath(folder.path, places.root),
        resume=None if folder.done or locked else f"invoke sweep --resume={folder.sweep_id}",
    )


def begun_at(folder: SweepFolder) -> datetime:
    """When it was asked for: its name says so, and else the clock of the file system."""
    try:
        return datetime.strptime(folder.sweep_id, "sweep-%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(folder.path.stat().st_mtime, UTC)
