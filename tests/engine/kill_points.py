"""Runs a scripted trial that is killed at points and gone on with; prints what came of each as JSON."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from runner.engine.killing import changed_trials, facts
from runner.engine.places import Places
from runner.store import ResultsStore, verify
from tests.engine.conftest import made
from tests.engine.runs import run
from tests.engine.standin import ENVIRONMENT, HARNESS, PROVIDER, script
from tests.kill_points import killed_at

FLAGS: dict[str, object] = {
    "harness": HARNESS,
    "provider": PROVIDER,
    "model": "m",
    "count": 1,
    "concurrency": 1,
    "isolation": "none",
    "max_topups": 2,
    "max_retries": 1,
}
SCRIPTS = {
    # Each top-up adds a line to the change: the patch tells how many there were, and whether one was cut off.
    "top-ups": "say(tokens=10)\n"
    "change() if kind == 'whole' else open('changed.py', 'a').write('y = 1\\n')\n"
    "note('github-issue.md', f'after {len(open(\"changed.py\").readlines())} lines')\n",
    "retries": "say(tokens=10, error='HTTP 500')\n",
}


def main(folder: Path, name: str, points: list[int]) -> None:
    """Print a line for each of ``points``, after one for a run that is left alone."""
    for at in (0, *points):
        places = made(folder / str(at))
        script(places, SCRIPTS[name])
        sys.stdout.write(json.dumps(outcome_of(places, at)) + "\n")
        sys.stdout.flush()
        shutil.rmtree(places.root)


def outcome_of(places: Places, at: int) -> dict[str, object]:
    """What came of one that was killed there, and gone on with until it ended."""
    store, seen, changed = ResultsStore(places.results), dict[str, str](), list[str]()
    codes = [killed_at(places.root, at, partial(_run, places, resume=False))]
    changed += changed_trials(places, seen)
    while codes[-1] == -signal.SIGKILL:
        again: Callable[[], int] = partial(_run, places, resume=any(store.plans()))
        codes.append(killed_at(places.root, 0, again))
        changed += changed_trials(places, seen)
    return {
        "at": at,
        "codes": codes,
        "facts": [repr(facts(stored)) for stored in store.trials()],
        "faults": [*changed, *(found.line() for found in verify(store.root))],
        "left over": [str(path) for path in (places.artifacts / "work").rglob("*")],
    }


def _run(places: Places, *, resume: bool) -> int:
    flags = {} if resume else FLAGS
    return run(places, flags, resume=True if resume else None, environment=ENVIRONMENT)[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [int(each) for each in sys.argv[3:]])
