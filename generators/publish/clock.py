"""Clock: the moment a build is dated, taken from its inputs and never from the wall."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from generators.publish.environment import git_environment

# Without git and without a dated record, a build is still dated the same each time.
FALLBACK = 0

_MOMENT_KEYS = ("ended_at", "judged_at", "started_at", "corrected_at", "created_at")


def source_date_epoch(root: Path) -> int:
    """Seconds since 1970 that date a build of ``root``.

    The committer date of HEAD; where ``root`` is not inside a git repository with a commit, the newest moment
    that a record below ``results/`` carries; 0 when there is none. Two builds of one commit carry one date.
    Source of the convention: https://reproducible-builds.org/specs/source-date-epoch/
    """
    committed = _commit_time(root)
    if committed is not None:
        return committed
    return max(_record_times(root / "results"), default=FALLBACK)


def _commit_time(root: Path) -> int | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "log", "-1", "--format=%ct"],
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return None
    stamp = answer.stdout.strip()
    return int(stamp) if answer.returncode == 0 and stamp.isdigit() else None


def _record_times(results: Path) -> Iterator[int]:
    for path in results.rglob("*.json"):
        try:
            record = json.loads(path.read_bytes())
        except ValueError:
            # Saying what is wrong with a record is the store's business; it only cannot date the build.
            continue
        if not isinstance(record, dict):
            continue
        for key in _MOMENT_KEYS:
            moment = record.get(key)
            if isinstance(moment, str):
                yield from _seconds(moment)


def _seconds(text: str) -> Iterator[int]:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return
    if moment.tzinfo is not None:
        yield int(moment.timestamp())
