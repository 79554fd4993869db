"""Import of folders: every file read on its own, so that a broken one keeps no other out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from runner.errors import HarnessmarkError, ImportFailure
from runner.importers.published.document import RunDocument
from runner.importers.published.identity import role_of
from runner.importers.published.reading import FaultyDocumentError, NotARunError, read_document
from runner.importers.published.sweep_document import RequestSweepDocument, SweepDocument
from runner.importers.published.throughput import sweep_records
from runner.importers.published.trials import records_of
from runner.importers.report import FileReport, FileStatus, ImportReport, Progress
from runner.records.plain_words import plain_faults
from runner.store import ResultsStore
from runner.store.layout import ledger_path


def import_published(
    folders: Sequence[Path], store: ResultsStore, *, progress: Progress | None = None
) -> ImportReport:
    """Turn every file below ``folders`` into records of ``store``; a file may be named itself.

    A file is checked as a whole before anything of it is written. Importing again changes nothing,
    whatever the order of the folders and wherever they lie. What fails stands in the report with the key
    it failed at; the other files are imported all the same.

    Raises:
        ImportFailure: a folder is not there, or none of them holds a JSON file.
    """
    files = _files(folders)
    reports = []
    for number, path in enumerate(files, 1):
        reports.append(_import_file(path, store))
        if progress is not None:
            progress(number, len(files), path.name)
    return ImportReport(tuple(reports))


def _files(folders: Sequence[Path]) -> list[Path]:
    found: dict[Path, Path] = {}
    for folder in folders:
        if not folder.exists():
            raise ImportFailure("there is nothing to import", where=str(folder), remedy="check the path")
        for path in [folder] if folder.is_file() else sorted(folder.rglob("*.json")):
            if path.is_file():
                found.setdefault(path.resolve(), path)
    if not found:
        raise ImportFailure(
            "no JSON file to import",
            where=", ".join(map(str, folders)),
            remedy="name the folders that hold the published files",
        )
    return list(found.values())


def _import_file(path: Path, store: ResultsStore) -> FileReport:
    try:
        document = read_document(path)
        if isinstance(document, RunDocument):
            return _import_run(path, document, store)
        return _import_sweep(path, document, store)
    except NotARunError as reason:
        return FileReport(path, FileStatus.SKIPPED, reason=str(reason))
    except FaultyDocumentError as error:
        return FileReport(path, FileStatus.FAILED, faults=error.faults)
    except ValidationError as error:
        return FileReport(path, FileStatus.FAILED, faults=tuple(plain_faults(error, whole="file")))
    except HarnessmarkError as error:
        where = f" ({error.where})" if error.where else ""
        return FileReport(path, FileStatus.FAILED, faults=(f"{error.what}{where}",))


def _import_run(path: Path, run: RunDocument, store: ResultsStore) -> FileReport:
    role = role_of(path)
    if role is None:
        raise FaultyDocumentError([f"file name: {path.stem.split('__')[3]!r} is no known kind of run"])
    if run.published_summary is None and not role.plan_suffix.endswith("-probe"):
        raise FaultyDocumentError(["published_summary: missing"])
    records = records_of(run, role)
    before = _ledger_size(store, records.plan.plan_id)
    store.clear_interrupted(records.plan)
    store.write_plan(records.plan)
    for trial, judgement in zip(records.trials, records.judgements, strict=True):
        store.write_trial(trial, judgements=() if judgement is None else (judgement,))
    changed = _ledger_size(store, records.plan.plan_id) != before
    return FileReport(
        path,
        FileStatus.IMPORTED if changed else FileStatus.UNCHANGED,
        plan_id=records.plan.plan_id,
        trials=len(records.trials),
        judgements=sum(judgement is not None for judgement in records.judgements),
        warnings=sum(len(trial.warnings) for trial in records.trials),
    )


def _import_sweep(path: Path, sweep: SweepDocument | RequestSweepDocument, store: ResultsStore) -> FileReport:
    plan, record = sweep_records(sweep)
    before = _ledger_size(store, plan.plan_id)
    store.clear_interrupted(plan)
    store.write_plan(plan)
    store.write_throughput(plan.plan_id, record)
    changed = _ledger_size(store, plan.plan_id) != before
    return FileReport(
        path,
        FileStatus.IMPORTED if changed else FileStatus.UNCHANGED,
        plan_id=plan.plan_id,
        sweeps=1,
        warnings=len(record.warnings),
    )


def _ledger_size(store: ResultsStore, plan_id: str) -> int:
    path = store.root / ledger_path(plan_id)
    return path.stat().st_size if path.is_file() else 0
