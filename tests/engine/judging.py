"""Judging for tests: finished trials of a real run, judged through the same function as ``invoke judge``."""

from __future__ import annotations

import functools
import io
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from runner.engine.judging.command import judge_command
from runner.engine.places import Places
from runner.records import JudgementRecord
from runner.store import ResultsStore
from tests.engine.judges import SCRIPTED
from tests.engine.standin import ENVIRONMENT, PROVIDER, run_script

DATASETS = Path(__file__).parent.parent.parent / "datasets"
WHOLE = "say(tokens=40)\nchange()\nnote()\n"
FLAGS: Mapping[str, object] = {
    "judge": SCRIPTED,
    "provider": PROVIDER,
    "model": "judge-1",
    "api_key_env": "STAND_IN_KEY",
}


def finished(places: Places, script: str = WHOLE, *, count: int = 1, **flags: object) -> ResultsStore:
    """A store with finished trials of a stand-in that does ``script``; run once, then copied."""
    made = _finished(script, json.dumps({"count": count, **flags}, sort_keys=True))
    shutil.copytree(made.name, places.root, dirs_exist_ok=True)
    return ResultsStore(places.results)


@functools.cache
def _finished(script: str, flags: str) -> tempfile.TemporaryDirectory[str]:
    """A project without its datasets; it is there as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="judging-", ignore_cleanup_errors=True)
    root = Path(folder.name)
    shutil.copytree(DATASETS, root / "datasets")
    run_script(Places(root), script, flags=json.loads(flags))
    shutil.rmtree(root / "datasets")
    return folder


def script(places: Places, *lines: str) -> None:
    """What the scripted judge does from now on."""
    places.harnesses.mkdir(exist_ok=True)
    (places.harnesses / "judge-script").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (places.harnesses / "judge-log").unlink(missing_ok=True)


def asked(places: Places) -> list[dict[str, Any]]:
    """Every question that the scripted judge got; a line that is still being written is none yet."""
    log = places.harnesses / "judge-log"
    lines = log.read_text().split("\n")[:-1] if log.is_file() else []
    return [json.loads(line) for line in lines]


def judge(
    places: Places,
    flags: Mapping[str, object] | None = None,
    *,
    path: str | None = None,
    cells: Sequence[str] = (),
    only_missing: bool = False,
    concurrency: int = 1,
    dry_run: bool = False,
    config: Path | None = None,
) -> tuple[int, str]:
    """Exit code and printed text of judging; by the scripted judge where ``flags`` name no other."""
    output = io.StringIO()
    code = judge_command(
        places,
        Console(file=output, width=300),
        flags=FLAGS if flags is None else flags,
        environment=ENVIRONMENT,
        path=path,
        cells=cells,
        only_missing=only_missing,
        concurrency=concurrency,
        dry_run=dry_run,
        config=None if config is None else str(config),
    )
    return code, output.getvalue()


def judgements(store: ResultsStore) -> list[JudgementRecord]:
    """All of the store, in order of their paths."""
    return [judgement for stored in ResultsStore(store.root).trials() for judgement in stored.judgements]
