"""Quarantine: trials that hold a secret, kept whole outside the store until somebody has looked at them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from runner.engine.attempt import Attempt
from runner.engine.auditing import void_found
from runner.errors import SecretFound, StoreError
from runner.records import CheckRecord, IntegrityRecord, PlannedTrial, TrialRecord, parse_record
from runner.store import ResultsStore, below

WHY = "why.txt"


@dataclass(frozen=True)
class Quarantine:
    """Folders ``<plan>/<position>`` below ``root``, which git ignores."""

    root: Path

    def hold(self, result: Attempt, reason: SecretFound) -> Path:
        """Keep a finished trial that the store refused; returns its folder."""
        folder = self._folder(result.trial.plan_id, result.trial.position)
        _forget(folder)
        for name in ("checks", "artifacts", "integrity"):
            (folder / name).mkdir(parents=True)
        for check in result.checks:
            (folder / "checks" / f"{check.name}-{check.number}.json").write_bytes(check.to_bytes())
        for scan in result.scans:
            (folder / "integrity" / f"scan-{scan.number}.json").write_bytes(scan.to_bytes())
        for name, data in result.artifacts.items():
            below(folder / "artifacts", name).write_bytes(data)
        (folder / WHY).write_text(reason.message() + "\n", encoding="utf-8")
        # Last and in one step: a folder with a record is whole.
        partial = folder / "trial.part"
        partial.write_bytes(result.trial.to_bytes())
        partial.rename(folder / "trial.json")
        return folder

    def release(self, plan_id: str, position: int, planned: PlannedTrial, store: ResultsStore) -> str | None:
        """Write a held trial to the store if it may be written now.

        Returns:
            None when nothing is held any more; else why it is still held.
        """
        folder = self._folder(plan_id, position)
        if not (folder / "trial.json").is_file():
            return None
        trial = parse_record(TrialRecord, (folder / "trial.json").read_bytes(), where="quarantine")
        if trial.identity != planned.identity:
            return "the held trial is another one"
        checks = [
            parse_record(CheckRecord, path.read_bytes(), where="quarantine")
            for path in sorted((folder / "checks").glob("*.json"))
        ]
        scans = [
            parse_record(IntegrityRecord, path.read_bytes(), where="quarantine")
            for path in sorted((folder / "integrity").glob("*.json"))
        ]
        artifacts = {path.name: path.read_bytes() for path in sorted((folder / "artifacts").iterdir())}
        try:
            store.write_trial(trial, checks=checks, artifacts=artifacts, scans=scans)
            void_found(store, trial.identity)
        except StoreError as error:
            return error.message()
        self.forget(plan_id, position)
        return None

    def forget(self, plan_id: str, position: int) -> None:
        """Remove all that is here of a trial that is in the store."""
        _forget(self._folder(plan_id, position))

    def has(self, plan_id: str, position: int) -> bool:
        """Whether there is anything of a trial here, held or what a kill left of it."""
        return self._folder(plan_id, position).exists()

    def holds(self, plan_id: str, position: int) -> bool:
        """Whether a trial is held."""
        return (self._folder(plan_id, position) / "trial.json").is_file()

    def _folder(self, plan_id: str, position: int | None) -> Path:
        return below(self.root, plan_id, str(position))


def _forget(folder: Path) -> None:
    """Remove a held trial, its record first: what a kill leaves of the rest is held no more."""
    (folder / "trial.json").unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
