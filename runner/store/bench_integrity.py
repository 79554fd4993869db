"""Bench integrity: whether the files of endpoint benchmarks belong together; no ledger lists them.

A summary names the digests of the plan and of the trials that it was made of, so that a changed figure, a
changed trial and a trial that was taken out are found alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from runner.errors import HarnessmarkError
from runner.store import layout
from runner.store.bench_run import BenchRun
from runner.store.finding import RESTORE, Finding

FILES = frozenset({layout.BENCH_MANIFEST, layout.BENCH_TRIALS, layout.BENCH_SUMMARY})
DEPTH = 4


def bench_findings(root: Path, present: Iterable[str]) -> Iterator[Finding]:
    """Everything that is wrong with the endpoint benchmarks among the files ``present``."""
    folders: dict[PurePosixPath, set[str]] = {}
    for path in map(PurePosixPath, sorted(present)):
        if path.parts[0] != layout.ENDPOINT:
            continue
        if len(path.parts) != DEPTH or path.name not in FILES:
            yield Finding(
                str(path), "misplaced", "no file of an endpoint benchmark", "move it out of the store"
            )
            continue
        folders.setdefault(path.parent, set()).add(path.name)
    for folder, names in folders.items():
        yield from _run_findings(root, folder, names)


def _run_findings(root: Path, folder: PurePosixPath, names: set[str]) -> Iterator[Finding]:
    for name in sorted({layout.BENCH_MANIFEST, layout.BENCH_TRIALS} - names):
        yield Finding(str(folder / name), "missing", "the other files of the run are there", RESTORE)
    if not {layout.BENCH_MANIFEST, layout.BENCH_TRIALS} <= names:
        return
    run = BenchRun(root, folder.parent.name, folder.name)
    trials = str(folder / layout.BENCH_TRIALS)
    try:
        manifest, made = run.manifest(), run.trials()
        summary = run.summary()
    except HarnessmarkError as error:
        yield Finding(trials, "unreadable", error.message().replace("\n", "; "), RESTORE)
        return
    targets = {target.identifier for target in manifest.targets}
    strange = [trial.key for trial in made if trial.target not in targets]
    if strange:
        yield Finding(trials, "altered", f"{strange[0]} is of a target that is not in the plan", RESTORE)
    if summary is None:
        remedy = f"invoke bench --resume {run.run_id}"
        yield Finding(str(folder), "unfinished", "the run has no figures yet", remedy)
        return
    path = str(folder / layout.BENCH_SUMMARY)
    if summary.manifest_sha256 != manifest.digest():
        yield Finding(path, "altered", "it was made for another plan", RESTORE)
    if summary.trials_sha256 != run.trials_sha256():
        yield Finding(path, "altered", "it was made of other trials", RESTORE)
