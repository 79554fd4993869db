"""A process that dies right before its n-th change of a file below a folder, and again before the n + 1st."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from runner.engine.auditing import void, void_found
from runner.engine.graded import Graded
from runner.importers.registry import importer
from runner.records import IntegrityFinding, Severity
from runner.store import ResultsStore, verify
from tests import examples
from tests.kill_points import killed_at

Work = Callable[[Path], object]
Files = dict[str, str]
NUMBERS = (2, 3, 4)


def dies(work: Work, root: Path, step: int) -> bool:
    """Whether a process that does ``work`` was killed right before its ``step``-th change below ``root``."""

    def done() -> int:
        """Do it; the exit code."""
        work(root)
        return 0

    return killed_at(root, step, done) == -signal.SIGKILL


def contents(root: Path) -> Files:
    """Every file below ``root``; of a ledger, what it lists."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            ledger = path.suffix == ".jsonl"
            found[str(path.relative_to(root))] = str(
                sorted(json.loads(each)["path"] for each in lines) if ledger else lines
            )
    return found


def prepared(root: Path) -> None:
    """A store with a plan and a finished trial."""
    store = ResultsStore(root / "results")
    store.write_plan(examples.plan())
    store.write_trial(examples.trial(), artifacts={"implementation.md": examples.NOTE})


def judged(root: Path) -> None:
    """A judgement beside it."""
    store = ResultsStore(root / "results")
    store.settle()
    if not store.trial(examples.identity()).judgements:
        store.write_judgement(examples.PLAN_ID, examples.judgement())


def voided(root: Path) -> None:
    """A scan that voids it, and the correction that says so."""
    store, who = ResultsStore(root / "results"), examples.identity()
    store.settle()
    if not store.trial(who).scans:
        finding = IntegrityFinding(rule="outside", severity=Severity.VOID, text="It looked elsewhere.")
        scan = examples.scan(who, finding).model_copy(update={"trial_sha256": store.digest_of(who)})
        store.write_scan(examples.PLAN_ID, scan)
        void(store, examples.PLAN_ID, who, scan, examples.trial().outcome)
    void_found(store, who)


def graded(root: Path) -> None:
    """Three checks that belong together."""
    store, keeping = ResultsStore(root / "results"), Graded(root / "graded")
    keeping.settle(store)
    if not store.trial(examples.identity()).checks:
        checks = [examples.check().model_copy(update={"number": number}) for number in NUMBERS]
        keeping.keep(store, examples.trial(), checks)


def imported(root: Path) -> None:
    """A published run of one trial."""
    [folder] = map(Path, sys.argv[2:])
    smallest = min(folder.rglob("*__swe*.json"), key=lambda path: path.stat().st_size)
    importer("published")([smallest], ResultsStore(root / "results"))


WORKS: dict[str, Work] = {"judged": judged, "voided": voided, "graded": graded, "imported": imported}


def faults(work: Work, folder: Path) -> tuple[int, list[str]]:
    """How many steps there are to die at, and what differs when the work is done again after each."""
    shutil.rmtree(folder / "whole", ignore_errors=True)
    prepared(folder / "whole")
    work(folder / "whole")
    wanted, found, step, died = contents(folder / "whole"), [], 0, True
    while died:
        step += 1
        root = folder / str(step)
        prepared(root)
        died = dies(work, root, step)
        if died:
            dies(work, root, step + 1)
        work(root)
        if contents(root) != wanted:
            names = sorted(name for name, _ in set(contents(root).items()) ^ set(wanted.items()))
            found.append(f"step {step}: differs: {', '.join(names)}")
        found += [f"step {step}: {each.line()}" for each in verify(root / "results")]
    return step, found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        sys.stdout.write(json.dumps(faults(WORKS[sys.argv[1]], Path(made))))
