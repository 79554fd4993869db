"""Killing: what is lost when the runner of a matrix is killed at random moments and resumed each time."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.engine.earlier import NOT_OF_THIS_RUN
from runner.engine.folding import fold_usage, total
from runner.engine.places import Places
from runner.engine.resuming import pending
from runner.errors import HarnessmarkError
from runner.records import sha256_of
from runner.store import ResultsStore, StoredTrial, verify
from runner.store.layout import TRIAL_FILE, TRIALS

KILLS = 100
LONGEST_SECONDS = 2.5
"""A kill comes so many seconds after the first word of a runner at the latest."""
AT_ONCE = 0.1
"""Share of the kills that do not wait for that word: they hit a runner at its start."""
EXIT_SHORT = 2
MATRIX = """
models:
  - {model: replay-careful, provider: replay, faults: [slow20]}
  - {model: replay-hasty, provider: replay, faults: [slow20]}
harnesses: [loop]
skills: [fix, swe3]
datasets:
  - {dataset: hello-world, count: 2}
concurrency: 2
"""
CHILD = """
import os, sys
from pathlib import Path
from rich.console import Console
from runner.engine.command import run_command
from runner.engine.places import Places
root, matrix = Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None
sys.exit(run_command(Places(root), Console(), config=None, flags={}, environment=os.environ, matrix=matrix,
                     resume=None if matrix else True))
"""
Key = tuple[str, ...]
Facts = tuple[object, ...]


@dataclass(frozen=True)
class KillMeasurement:
    """What came of a matrix whose runner was killed again and again, as often as was asked."""

    kills: int
    """That hit a runner which had not ended yet."""
    rounds: int
    """How often the matrix had ended and was begun anew, in a project of its own."""
    trials: int
    """Of one round."""
    interrupted: int
    """Invocations that a kill ended; what they had spent is in the records."""
    faults: tuple[str, ...]
    """What was lost, changed, half written or run again; nothing, where all is well."""

    def lines(self) -> list[str]:
        """The figures in words."""
        return [
            f"{self.kills} kills of a runner, at random moments of {self.rounds} rounds of a matrix of "
            f"{self.trials} trials; {self.interrupted} invocations were ended by them",
            *self.faults,
            f"{len(self.faults)} faults: records that differ from an undisturbed run's, are half written, or "
            "were written twice",
        ]


def facts(stored: StoredTrial) -> Facts:
    """What must not depend on interruptions: who, how it ended, what it used, what the checks said.

    What an interrupted runner had spent before is in the record too, and left out here.
    """
    record = stored.record
    own = [each for each in record.invocations if each.stop_reason not in NOT_OF_THIS_RUN]
    usage = fold_usage(own)
    return (
        record.identity.key,
        record.fingerprint.model_dump_json(),
        record.position,
        record.outcome,
        len(own),
        total(each.turns for each in own),
        None if usage is None else usage.model_dump_json(),
        tuple((artifact.name, artifact.sha256) for artifact in record.artifacts),
        tuple((check.name, check.status) for check in stored.checks),
    )


def measure_kills(
    datasets: Path,
    *,
    kills: int = KILLS,
    longest: float = LONGEST_SECONDS,
    seed: int = 0,
    matrix: str = MATRIX,
    folder: Path | None = None,
) -> KillMeasurement:
    """Run a matrix undisturbed, then kill runners of it ``kills`` times, and compare what is in the stores.

    Args:
        datasets: the project's folder of datasets.
        longest: seconds after the first word of a runner within which it is killed.
        seed: of the moments.
        folder: where to work; a temporary folder unless given.
    """
    generator = random.Random(seed)  # noqa: S311 - moments, not keys
    with tempfile.TemporaryDirectory(prefix="kills-", dir=folder) as made:
        (file := Path(made) / "matrix.yaml").write_text(matrix, encoding="utf-8")
        undisturbed = _project(Path(made) / "undisturbed", datasets)
        _finish(undisturbed, file)
        wanted = _facts(undisturbed)
        hits = rounds = interrupted = 0
        faults: list[str] = []
        while hits < kills:
            rounds += 1
            places = _project(Path(made) / f"round-{rounds}", datasets)
            seen: dict[str, str] = {}
            while hits < kills and not _is_finished(places):
                at_once = generator.random() < AT_ONCE
                hits += _killed(places, file, generator.uniform(0.0, longest), at_once=at_once)
                faults += changed_trials(places, seen)
            _finish(places, file)
            faults += changed_trials(places, seen)
            faults += [f"round {rounds}: {found.line()}" for found in verify(_store(places).root)]
            faults += differing(wanted, _facts(places))
            faults += [f"{path.name}: is left of a trial that is in the store" for path in _left_over(places)]
            interrupted += sum(
                each.stop_reason in NOT_OF_THIS_RUN
                for stored in _store(places).trials()
                for each in stored.record.invocations
            )
            shutil.rmtree(places.root)
    return KillMeasurement(hits, rounds, len(wanted), interrupted, tuple(faults))


def kills_command(datasets: Path, say: Callable[[str], None]) -> int:
    """Measure what kills do, and show it; 2 where anything was lost."""
    found = measure_kills(datasets)
    for line in found.lines():
        say(line)
    return EXIT_SHORT if found.faults else 0


def _project(root: Path, datasets: Path) -> Places:
    shutil.copytree(datasets, root / "datasets")
    return Places(root)


def _store(places: Places) -> ResultsStore:
    return ResultsStore(places.roots().demonstration)


def _facts(places: Places) -> dict[Key, Facts]:
    return {stored.record.identity.key: facts(stored) for stored in _store(places).trials()}


def _is_finished(places: Places) -> bool:
    store = _store(places)
    plans = list(store.plans())
    return bool(plans) and not any(pending(plan, store) for plan in plans)


def _runner(places: Places, matrix: Path) -> subprocess.Popen[bytes]:
    """The first runner that gets as far as a plan takes the matrix, all others resume it."""
    begun = bool(list(_store(places).plans()))
    words = [sys.executable, "-c", CHILD, str(places.root), *([] if begun else [str(matrix)])]
    home = str(Path(__file__).parents[2])
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([home, os.environ.get("PYTHONPATH", "")])},
    )


def _killed(places: Places, matrix: Path, seconds: float, *, at_once: bool) -> bool:
    with _runner(places, matrix) as runner:
        if runner.stdout is not None and not at_once:
            runner.stdout.read(1)
        time.sleep(seconds)
        runner.send_signal(signal.SIGKILL)
        return runner.wait() == -signal.SIGKILL


def _finish(places: Places, matrix: Path) -> None:
    """Run what is left to its end.

    Raises:
        HarnessmarkError: the runner fails at that.
    """
    if _is_finished(places):
        return
    with _runner(places, matrix) as runner:
        said = runner.communicate()[0].decode(errors="replace")
    if not _is_finished(places):
        raise HarnessmarkError(
            f"the runner left something, with exit code {runner.returncode}: {said[-1500:]}"
        )


def _left_over(places: Places) -> list[Path]:
    """Output of agents in scratch folders; none, once all is done."""
    return list((places.artifacts / "work").rglob("stdout"))


def changed_trials(places: Places, seen: dict[str, str]) -> Iterator[str]:
    """Finished trials that are not what they were.

    Args:
        seen: digests of the records of finished trials, by path; those that are new are added.
    """
    root = places.roots().demonstration
    # What a kill left half made elsewhere in the store was never finished.
    found = (root / TRIALS).rglob(TRIAL_FILE)
    now = {str(path.relative_to(root)): sha256_of(path.read_bytes()) for path in found}
    for name, digest in seen.items():
        if now.get(name) != digest:
            yield f"{name}: {'was written again' if name in now else 'is gone'} after it had been finished"
    seen.update(now)


def differing(wanted: dict[Key, Facts], found: dict[Key, Facts]) -> Sequence[str]:
    """Trials of an undisturbed run and of a disturbed one, by key, whose facts are not the same."""
    names = sorted({*wanted, *found})
    return [
        f"{'/'.join(name)}: differs from that of the undisturbed run"
        for name in names
        if wanted.get(name) != found.get(name)
    ]
