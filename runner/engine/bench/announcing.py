"""Announcing: a benchmark that is prepared and has no file in the store yet, for whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runner.engine.bench.standing import bench_name
from runner.engine.lock import is_locked
from runner.engine.places import Places
from runner.errors import HarnessmarkError
from runner.records import BenchManifest, parse_record
from runner.store.bench_run import BenchRun, replace_file

PLAN = "bench-plan.json"


@contextmanager
def announced(
    places: Places, run: BenchRun, manifest: BenchManifest
) -> Iterator[Callable[[BenchManifest], None]]:
    """While open, others find ``run``; yields what is called with the manifest once more is known of it.

    What pre-flight and calibration find belongs into the manifest, so that the store has none before.
    """
    path = places.state(bench_name(run.run_id)).with_name(PLAN)

    def announce(known: BenchManifest) -> None:
        """Let others find what is known of it by now."""
        # Whether it holds a secret is told where it is stored; this copy shows none.
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, run.scanner.mask_bytes(known.to_bytes()))

    announce(manifest)
    try:
        yield announce
    finally:
        path.unlink(missing_ok=True)


def announcements(places: Places) -> Iterator[tuple[BenchRun, BenchManifest]]:
    """Every benchmark that somebody prepares now. What a killed runner announced is at an end."""
    for path in sorted(places.state("any").parent.parent.glob(f"*/{PLAN}")):
        manifest = _read(path)
        if manifest is None or not is_locked(places.lock(bench_name(manifest.run_id))):
            continue
        roots = places.roots()
        root = roots.demonstration if manifest.demonstration else roots.public
        run = BenchRun(root, manifest.model, manifest.run_id)
        if not run.manifest_path.is_file():
            yield run, manifest


def _read(path: Path) -> BenchManifest | None:
    """The manifest; None where it is gone by now, or cannot be read."""
    with suppress(OSError, HarnessmarkError):
        return parse_record(BenchManifest, path.read_bytes(), where=path.name)
    return None
