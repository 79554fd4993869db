"""Runs for tests: through the same function as ``invoke run``, with a quiet console."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping

from rich.console import Console

from runner.engine.command import run_command
from runner.engine.places import Places
from runner.store import ResultsStore, StoredTrial


def run(
    places: Places,
    flags: Mapping[str, object] | None = None,
    *,
    resume: str | bool | None = None,
    dry_run: bool = False,
    stream: bool = False,
    environment: Mapping[str, str] | None = None,
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
    )
    return code, output.getvalue()


def demonstration(places: Places) -> ResultsStore:
    """The store where demonstration results belong."""
    return ResultsStore(places.roots().demonstration)


def facts(stored: StoredTrial) -> tuple[object, ...]:
    """What must not depend on interruptions: who, how it ended, what it used, what the checks said."""
    record = stored.record
    return (
        record.identity.key,
        record.fingerprint.model_dump_json(),
        record.position,
        record.outcome,
        record.turns,
        None if record.usage is None else record.usage.model_dump_json(),
        tuple((artifact.name, artifact.sha256) for artifact in record.artifacts),
        tuple((check.name, check.status) for check in stored.checks),
    )
