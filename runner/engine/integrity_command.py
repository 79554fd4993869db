"""Integrity command: ``invoke integrity`` scans stored trials again and voids those that had help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner.engine.auditing import Surroundings, audit, planned_limits, void, void_found
from runner.engine.masking import Mask
from runner.engine.places import Places
from runner.engine.stored_trials import LeftOut, Library, patch_of, selected, stores_of, told
from runner.errors import HarnessmarkError
from runner.harnesses.registry import harness
from runner.integrity import RULES_VERSION
from runner.records import IntegrityRecord, Limits, Outcome
from runner.secrets import Scanner
from runner.store import ResultsStore, StoredTrial

EXIT_DONE, EXIT_VOID, EXIT_PARTIAL = 0, 2, 3


@dataclass(frozen=True)
class _Scanning:
    """What scans of stored trials share."""

    places: Places
    scanner: Scanner
    library: Library

    def scan(self, store: ResultsStore, stored: StoredTrial, planned: Limits | None) -> IntegrityRecord:
        """The next scan of a trial.

        Raises:
            LeftOut: there is nothing to look at.
        """
        record = stored.record
        if record.source is not None and not record.invocations:
            raise LeftOut("it is imported: neither a stream nor a patch is kept")
        dataset_path, task = self.library.task_of(record, changed=True)
        try:
            patch = patch_of(stored)
        except LeftOut:
            patch = None
        scratch = self.places.scratch(record.plan_id, record.position or 0)
        return audit(
            record,
            task,
            dataset_path,
            patch,
            Surroundings(
                self.places.root,
                scratch,
                self.places.streams,
                self.places.harnesses,
                trace=_trace(record.identity.cell.harness),
                mask=Mask("", str(scratch), str(self.places.root), self.scanner).text,
            ),
            number=max((scan.number for scan in stored.scans), default=0) + 1,
            digest=store.digest_of(record.identity),
            planned=planned,
        )


def integrity_command(
    places: Places,
    say: Callable[[str], None],
    *,
    environment: Mapping[str, str],
    path: str | None = None,
    cell: Sequence[str] = (),
    only_missing: bool = False,
    dry_run: bool = False,
) -> int:
    """Scan stored trials and say what was found; returns the exit code, which tells void trials.

    A scan that finds what the newest one of the same rules found is not kept again.

    Raises:
        UsageError: the path is in no store.
    """
    scanner = places.scanner(environment)
    scanning = _Scanning(places, scanner, Library(places.datasets))
    left_out: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    limits: dict[str, Limits | None] = {}
    stores: dict[str, ResultsStore] = {}
    for root in () if dry_run else stores_of(path, places)[0]:
        ResultsStore(root, scanner=scanner).settle()
    for store, stored in selected(places, path, cell):
        writing = stores.setdefault(str(store.root), ResultsStore(store.root, scanner=scanner))
        plan_id = stored.record.plan_id
        try:
            if plan_id not in limits:
                limits[plan_id] = planned_limits(store.plan(plan_id))
            if only_missing and any(scan.rules_version == RULES_VERSION for scan in stored.scans):
                if not dry_run:
                    void_found(writing, stored.record.identity)
                counts["already scanned"] += 1
                continue
            scan = scanning.scan(store, stored, limits[plan_id])
            if not dry_run:
                _keep(writing, stored, scan)
        except LeftOut as reason:
            left_out[str(reason)] += 1
        except (HarnessmarkError, OSError) as error:
            counts["failed"] += 1
            say(f"{'/'.join(stored.record.identity.key)}: failed: {' '.join(str(error).split())}")
        else:
            counts["void" if scan.voids else "with notes" if scan.findings else "clean"] += 1
            for line in _lines(scan):
                say(line)
    for line in told(left_out):
        say(line)
    say(", ".join(f"{count} {word}" for word, count in sorted(counts.items())) or "no trial to scan")
    if dry_run:
        say("Dry run: nothing was written.")
    return EXIT_PARTIAL if counts["failed"] else EXIT_VOID if counts["void"] else EXIT_DONE


def _keep(store: ResultsStore, stored: StoredTrial, scan: IntegrityRecord) -> None:
    """Write ``scan`` unless it says nothing new, and void the trial where it must be."""
    record = stored.record
    last = stored.scans[-1] if stored.scans else None
    if last is None or _content(last) != _content(scan):
        store.write_scan(record.plan_id, scan)
        if not stored.corrections:
            void(store, record.plan_id, record.identity, scan, record.outcome)
    if record.outcome is not Outcome.CHEATING:
        void_found(store, record.identity)


def _content(scan: IntegrityRecord) -> tuple[object, ...]:
    return scan.rules_version, scan.trial_sha256, scan.scanned, scan.findings, scan.left_out


def _lines(scan: IntegrityRecord) -> Iterator[str]:
    name = "/".join(scan.trial.key)
    for each in scan.findings:
        where = f", invocation {each.invocation}, line {each.line}" if each.line else ""
        where += f", {each.path}" if each.path else ""
        words = f": {each.evidence}" if each.evidence else ""
        yield f"{each.severity.value}: {name}: {each.rule}: {each.text}{where}{words}"


def _trace(name: str) -> Callable[[str], str | None]:
    """How a harness shows a line; one that is not here any more shows it as it is."""
    try:
        return harness(name).trace
    except HarnessmarkError:
        return lambda line: line
