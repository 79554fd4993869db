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
from runner.store.atomic import remove_interrupted
from runner.store.bench_run import BenchRun, replace_file

PLAN = "bench-plan.json"


@contextmanager
def announced(
    places: Places, run: BenchRun, manifest: BenchManifest
) -> Iterator[Callable[[BenchManifest], None]]:
    """While open, others find ``run``; yields what is called with the manifest once more is known of it.

    What pre-flight and calibration find belongs into the manifest, so that the store has none before.
    """
    path = _path(places, run)
    _forget_killed(places)

    def announce(known: BenchManifest) -> None:
        """Let others find what is known of it by now."""
        # Whether it holds a secret is told where it is stored; this copy shows none.
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, run.scanner.mask_bytes(known.to_bytes()))

    announce(manifest)
    try:
        yield announce
    finally:
        forget_announced(places, run)


def forget_announced(places: Places, run: BenchRun) -> None:
    """The store has ``run`` now, or it is at an end. Only whoever holds its lock may do this."""
    path = _path(places, run)
    path.unlink(missing_ok=True)
    remove_interrupted(path.parent)


def announcements(places: Places) -> Iterator[tuple[BenchRun, BenchManifest]]:
    """Every benchmark that somebody prepares now. What a killed runner announced is at an end."""
    for path in _announced(places):
        manifest = _read(path)
        if manifest is None or not is_locked(places.lock(bench_name(manifest.run_id))):
            continue
        roots = places.roots()
        root = roots.demonstration if manifest.demonstration else roots.public
        run = BenchRun(root, manifest.model, manifest.run_id)
        if not run.manifest_path.is_file():
            yield run, manifest


def _path(places: Places, run: BenchRun) -> Path:
    return places.state(bench_name(run.run_id)).with_name(PLAN)


def _announced(places: Places) -> list[Path]:
    return sorted(places.state("any").parent.parent.glob(f"*/{PLAN}"))


def _forget_killed(places: Places) -> None:
    """Remove what was announced by runners that are gone."""
    for path in _announced(places):
        if not is_locked(places.lock(path.parent.name)):
            path.unlink(missing_ok=True)


def _read(path: Path) -> BenchManifest | None:
    """The manifest; None where it is gone by now, or cannot be read."""
    with suppress(OSError, HarnessmarkError):
        return parse_record(BenchManifest, path.read_bytes(), where=path.name)
    return None
