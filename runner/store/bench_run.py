"""BenchRun: the folder of an endpoint benchmark: plan first, one line per trial at once, then figures."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import RecordError, SecretFound, StoreError, UsageError
from runner.records import BenchManifest, BenchSummary, BenchTrial, parse_record, sha256_of
from runner.secrets import Scanner
from runner.store import layout
from runner.store.atomic import (
    WRITING,
    explained,
    publish_folder,
    remove_interrupted,
    sync_folder,
    write_once,
)
from runner.store.component import component

SECOND = len("20260102t030405")


@dataclass(frozen=True)
class BenchRun:
    """One run below ``root`` of a store.

    Args:
        scanner: looks for secrets in whatever is written; a line that holds one is not written.
    """

    root: Path
    model: str
    run_id: str
    scanner: Scanner = field(default_factory=Scanner)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.root / layout.bench_folder(self.model, self.run_id)

    @property
    def manifest_path(self) -> Path:
        """What was planned."""
        return self.folder / layout.BENCH_MANIFEST

    @property
    def trials_path(self) -> Path:
        """One line per trial."""
        return self.folder / layout.BENCH_TRIALS

    @property
    def summary_path(self) -> Path:
        """All figures."""
        return self.folder / layout.BENCH_SUMMARY

    def begin(self, manifest: BenchManifest) -> None:
        """Make the folder with the manifest and an empty file of trials, in one step.

        One without the other would be a run that nobody can read, and none that is gone on with. What others
        that were killed at this left behind is removed.

        Raises:
            OverwriteError: the run exists with another plan.
        """
        data = manifest.to_bytes()
        _require_no_secret(self.scanner, data, self.manifest_path.name)
        if self.manifest_path.exists():
            write_once(self.manifest_path, data)
            return
        files = {self.manifest_path.name: data, self.trials_path.name: b""}
        with _staging(self.root / layout.STAGING / layout.ENDPOINT, self.run_id) as staging:
            publish_folder(self.folder, files, staging=staging)

    def manifest(self) -> BenchManifest:
        """What was planned."""
        return parse_record(BenchManifest, self._read(self.manifest_path), where=str(self.manifest_path))

    def summary(self) -> BenchSummary | None:
        """The figures; None where the run has not come that far."""
        if not self.summary_path.is_file():
            return None
        return parse_record(BenchSummary, self._read(self.summary_path), where=str(self.summary_path))

    def trials(self) -> tuple[BenchTrial, ...]:
        """All trials that are whole; a last line that is cut is left out.

        A trial that was skipped may be made up for later: then the later line holds.

        Raises:
            RecordError: a line is no trial of this run, or a trial that was made stands twice.
        """
        return tuple(self._parsed(self._whole()))

    def trials_sha256(self) -> str:
        """Digest of all whole lines."""
        return sha256_of(self._whole())

    def repair(self) -> int:
        """Take away a last line that is cut; the number of bytes that were lost, 0 where nothing was.

        Only whoever holds the lock of the run may do this.
        """
        remove_interrupted(self.folder)
        data, whole = self._read(self.trials_path), self._whole()
        lost = len(data) - len(whole)
        if lost:
            with explained(self.trials_path), self.trials_path.open("r+b") as stream:
                stream.truncate(len(whole))
                stream.flush()
                os.fsync(stream.fileno())
        return lost

    def write_summary(self, summary: BenchSummary) -> None:
        """Put the figures in place of earlier ones in one step.

        A summary is derived from the other two files, so that replacing it loses nothing.
        """
        data = summary.to_bytes()
        _require_no_secret(self.scanner, data, self.summary_path.name)
        replace_file(self.summary_path, data)

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise StoreError(f"could not read: {error.strerror}", where=str(path)) from None

    def _whole(self) -> bytes:
        data = self._read(self.trials_path)
        return data[: data.rfind(b"\n") + 1]

    def _parsed(self, data: bytes) -> Iterator[BenchTrial]:
        seen: dict[str, BenchTrial] = {}
        for number, line in enumerate(data.splitlines(), 1):
            where = f"{self.trials_path}, line {number}"
            trial = parse_record(BenchTrial, line, where=where)
            if trial.run_id != self.run_id:
                raise RecordError(f"a trial of another run, {trial.run_id}", where=where)
            earlier = seen.get(trial.key)
            if earlier is not None and earlier.skipped is None:
                raise RecordError(f"the trial {trial.key} stands there twice", where=where)
            seen[trial.key] = trial
        yield from seen.values()


@contextmanager
def _staging(folder: Path, name: str) -> Iterator[Path]:
    """A folder below ``folder`` that is locked while it is used: how a left-over is told from it."""
    for path in folder.glob("*"):
        with contextlib.suppress(StoreError), _held(path) as is_left:
            if is_left:
                shutil.rmtree(path, ignore_errors=True)
    staging = folder / name
    with explained(staging):
        staging.mkdir(parents=True, exist_ok=True)
    with _held(staging):
        try:
            yield staging
        finally:
            with contextlib.suppress(OSError):
                staging.rmdir()


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder while this is open; whether it was to be had."""
    with explained(folder):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield _is_free(descriptor)
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def replace_file(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step, whatever was there."""
    with explained(path):
        descriptor, temporary = tempfile.mkstemp(prefix=WRITING, dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    sync_folder(path.parent)


class TrialLog:
    """Appends trials. For one thread at a time."""

    def __init__(self, run: BenchRun) -> None:
        self._run = run
        with explained(run.trials_path):
            self._descriptor = os.open(run.trials_path, os.O_WRONLY | os.O_APPEND)

    def append(self, trial: BenchTrial) -> None:
        """Write one line that is on the disk before this returns; as :meth:`write` and :meth:`sync`."""
        self.write(trial)
        self.sync()

    def write(self, trial: BenchTrial) -> None:
        """Write one line; what looks like a secret in it is masked, as a result that was paid is not lost.

        It stays where this process is killed, and not where the power goes: :meth:`sync` sees to that.

        Raises:
            SecretFound: it cannot be masked without breaking the record; nothing is written.
            StoreError: the file system refused it.
        """
        line = self._masked(trial)
        with explained(self._run.trials_path):
            whole, view = os.fstat(self._descriptor).st_size, memoryview(line)
            try:
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError:
                # Trials in flight are written after this one: half a line would spoil the next.
                os.ftruncate(self._descriptor, whole)
                raise

    def sync(self) -> None:
        """Return when everything that was written is on the disk.

        Raises:
            StoreError: the file system refused it.
        """
        with explained(self._run.trials_path):
            os.fsync(self._descriptor)

    def _masked(self, trial: BenchTrial) -> bytes:
        line = trial.to_line()
        masked = self._run.scanner.mask_bytes(line)
        if masked == line:
            return line
        try:
            same = parse_record(BenchTrial, masked, where=trial.key).key == trial.key
        except RecordError:
            same = False
        if not same or masked.count(b"\n") != 1:
            _require_no_secret(self._run.scanner, line, f"trial {trial.key}")
        return masked

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def _require_no_secret(scanner: Scanner, data: bytes, where: str) -> None:
    hits = scanner.find(data)
    if hits:
        raise SecretFound(
            "a file to be written holds what looks like a secret",
            where="; ".join(f"{where}: {hit.line()}" for hit in hits[:10]),
            remedy="if it is one: revoke it. If it is none: add the digest to datasets/not-secret.txt",
        )


def find_runs(root: Path) -> tuple[BenchRun, ...]:
    """All runs of the store at ``root``, in order of their folders."""
    paths = sorted((root / layout.ENDPOINT).glob(f"*/*/{layout.BENCH_MANIFEST}"))
    return tuple(
        BenchRun(root, component(path.parent.parent.name), component(path.parent.name)) for path in paths
    )


def newest(runs: Iterable[BenchRun]) -> BenchRun | None:
    """The run that was begun last; None of none.

    An id begins with the second of its beginning; several of one second are told apart by their manifests.
    """
    each = sorted(runs, key=lambda run: run.run_id)
    if not each:
        return None
    second = each[-1].run_id[:SECOND]
    latest = [run for run in each if run.run_id[:SECOND] == second]
    return latest[0] if len(latest) == 1 else max(latest, key=lambda run: run.manifest().created_at)


def find_run(roots: layout.StoreRoots, wanted: str, scanner: Scanner) -> BenchRun:
    """The run with this id, or the newest one for ``latest``, in any of the stores.

    Raises:
        UsageError: there is none.
    """
    every = [run for root in roots.existing() for run in find_runs(root)]
    named = [run for run in every if wanted in {run.run_id, "latest"}]
    chosen = newest(named)
    if chosen is None:
        known = sorted((run.run_id for run in every), reverse=True)[:5]
        if not known:
            raise UsageError("there is no endpoint benchmark yet", remedy="invoke bench makes one")
        raise UsageError(
            f"there is no endpoint benchmark {wanted!r}", remedy=f"the newest: {', '.join(known)}"
        )
    return BenchRun(chosen.root, chosen.model, chosen.run_id, scanner)
