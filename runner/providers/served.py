"""Served: whether a server's list of models holds the one that is asked for, and which names come near."""

from __future__ import annotations

import difflib
import fnmatch
import shlex
from collections.abc import Sequence

from runner.providers.asking import printable
from runner.providers.checks import SERVED_MODEL, Check, CheckState

LISTED = 8


def served_ids(body: object) -> tuple[str, ...] | None:
    """The ids in a list of models (``{"data": [{"id": ...}]}``); None where it is no such list."""
    entries = body.get("data") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        return None
    ids = [entry.get("id") for entry in entries if isinstance(entry, dict)]
    return tuple(dict.fromkeys(each for each in ids if isinstance(each, str)))


def served_check(asked: str, served: Sequence[str]) -> Check:
    """Whether ``asked`` is among the served names; where it is not, the nearest ones."""
    if asked in served:
        return Check(SERVED_MODEL, CheckState.PASS, f"{printable(asked)} is served under this name")
    pattern = next((each for each in served if "*" in each and fnmatch.fnmatchcase(asked, each)), None)
    if pattern is not None:
        return Check(SERVED_MODEL, CheckState.PASS, f"{printable(asked)} falls under {printable(pattern)}")
    if not served:
        return Check(
            SERVED_MODEL, CheckState.FAIL, "the server serves no model", "load a model in it, then run again"
        )
    shown = ", ".join(printable(each, 80) for each in served[:LISTED])
    more = f" and {len(served) - LISTED} more" if len(served) > LISTED else ""
    near = near_names(asked, served) or (list(served) if len(served) == 1 else [])
    fix = f"--model {shlex.quote(printable(near[0]))}" if near else "name one of them with --model"
    return Check(
        SERVED_MODEL, CheckState.FAIL, f"{printable(asked)} is not served; it serves: {shown}{more}", fix
    )


def near_names(asked: str, served: Sequence[str]) -> list[str]:
    """Up to three served names that come near: by spelling, by case, or by the part after the last slash."""
    by_short: dict[str, str] = {}
    for name in served:
        for short in (name.lower(), _last_part(name)):
            by_short.setdefault(short, name)
    wanted = (asked.lower(), _last_part(asked))
    within = [name for name in served if any(len(each) > 3 and each in name.lower() for each in wanted)]
    close = [
        by_short[found]
        for each in wanted
        for found in difflib.get_close_matches(each, by_short, n=3, cutoff=0.6)
    ]
    exact = [by_short[each] for each in wanted if each in by_short]
    return list(dict.fromkeys([*exact, *close, *within]))[:3]


def _last_part(name: str) -> str:
    return name.rstrip("/").rsplit("/", 1)[-1].lower()
