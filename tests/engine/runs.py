"""Runs for tests: through the same function as ``invoke run``, with a quiet console."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rich.console import Console

from runner.engine.command import run_command
from runner.engine.journal import read_state
from runner.engine.places import Places
from runner.store import ResultsStore


def run(
    places: Places,
    flags: Mapping[str, object] | None = None,
    *,
    resume: str | bool | None = None,
    dry_run: bool = False,
    stream: bool = False,
    environment: Mapping[str, str] | None = None,
    matrix: Path | None = None,
) -> tuple[int, str]:
    """Exit code and printed text of a run."""
    output = io.StringIO()
    code = run_command(
        places,
        Console(file=output, width=200),
        config=None,
        flags=flags or {},
        environment=os.environ if environment is None else environment,
        resume=resume,
        dry_run=dry_run,
        stream=stream,
        matrix=matrix,
    )
    return code, output.getvalue()


def demonstration(places: Places) -> ResultsStore:
    """The store where demonstration results belong."""
    return ResultsStore(places.roots().demonstration)


def undo_last_trial(store: ResultsStore, plan_id: str) -> Path:
    """Bring the store back to before the last trial of the plan was written; its folder, now gone."""
    ledger = store.root / "ledger" / f"{plan_id}.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    folder = str(PurePosixPath(json.loads(lines[-1])["path"]).parent)
    ledger.write_bytes(b"".join(line for line in lines if folder + "/" not in line.decode()))
    shutil.rmtree(store.root / folder)
    return store.root / folder


def wait_until_asked_to_stop(places: Places, seconds: float = 240.0) -> None:
    """Return when the runner of the one plan says that it has heard; two presses at once may count as one."""
    deadline = time.monotonic() + seconds
    while not any(
        state is not None and state.stopping
        for state in map(read_state, places.artifacts.glob("runs/*/state.json"))
    ):
        assert time.monotonic() < deadline, "the runner did not hear the first press"
        time.sleep(0.02)
