"""Disk: whether checkouts, raw streams and records will fit where they are to be written."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from runner.datasets import checkout_bytes
from runner.engine.places import Places
from runner.engine.planning import Group, size
from runner.providers.checks import Check, CheckState

MEGABYTE = 1_000_000
FLOOR = 500 * MEGABYTE
"""Below this nothing starts: a full disk spoils trials that are paid for."""
MARGIN = 2.0
COPIES = 4
"""Of a checkout, for each trial in hand: workspace, two packed repositories, and the grading of checks."""
HOME = 200 * MEGABYTE
"""What an agent and what it builds leave in its private home."""
UNFETCHED = 500 * MEGABYTE
"""Taken for a checkout of unknown size."""
STREAM, RECORD = 5 * MEGABYTE, MEGABYTE
"""Of a finished trial: its compressed output, and its records and artifacts."""

Free = Callable[[Path], int]


def _free(path: Path) -> int:
    return shutil.disk_usage(path).free


def disk_checks(groups: Sequence[Group], places: Places, free: Free = _free) -> Iterator[Check]:
    """One line for each file system that the run writes to."""
    needs = {
        "scratch": (places.artifacts, scratch_bytes(groups, places.repositories)),
        "streams": (places.streams, STREAM * sum(map(size, groups))),
        "results": (places.results, RECORD * sum(map(size, groups))),
    }
    shared: dict[int, list[str]] = {}
    for name, (folder, _) in needs.items():
        shared.setdefault(existing(folder).stat().st_dev, []).append(name)
    for names in shared.values():
        folder = needs[names[0]][0]
        yield _check(names, existing(folder), sum(needs[name][1] for name in names), free)


def _check(names: Sequence[str], folder: Path, need: int, free: Free) -> Check:
    there = free(folder)
    found = f"{_size(there)} free for {' and '.join(names)}; about {_size(need)} will be taken"
    fix = "free space there, such as old files in .artifacts/streams, or lower --concurrency"
    if there < FLOOR:
        return Check("disk", CheckState.FAIL, f"{found}; {_size(FLOOR)} are the least", fix)
    if there < need * MARGIN:
        return Check("disk", CheckState.WARN, found, fix)
    return Check("disk", CheckState.PASS, found)


def scratch_bytes(groups: Sequence[Group], cache: Path) -> int:
    """What the trials in hand at the same time take while they are in hand."""
    sizes: Mapping[tuple[str, str, Path], int] = {
        (task.repo, task.ref, beside): _checkout(task.repo, task.ref, beside, cache)
        for group in groups
        for beside in (group.parts.dataset_path.parent,)
        for task in group.parts.tasks
    }
    # Agents at work, and as many trials being made ready or graded meanwhile.
    in_hand = min(2 * groups[0].settings.concurrency, sum(map(size, groups)))
    return in_hand * (COPIES * max(sizes.values(), default=0) + HOME)


def _checkout(repo: str, ref: str, beside: Path, cache: Path) -> int:
    known = checkout_bytes(repo, ref, beside=beside, cache=cache)
    return UNFETCHED if known is None else known


def existing(folder: Path) -> Path:
    """The nearest folder that is there already."""
    for place in (folder, *folder.parents):
        if place.exists():
            return place
    return Path(folder.anchor)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
