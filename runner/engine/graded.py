"""Graded: checks of a stored trial that belong together, kept until the store has every one of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from runner.errors import OverwriteError, SecretFound
from runner.records import CheckRecord, CheckStatus, Part, TrialRecord
from runner.store import ResultsStore

Key = tuple[str, ...]


class _Checks(Part):
    plan_id: str
    trial_sha256: str
    checks: tuple[CheckRecord, ...]


@dataclass(frozen=True)
class Graded:
    """Files below ``folder``, one for each trial whose checks are being written.

    Without it a command that was killed between two of them would leave a trial with numbers that differ from
    check to check, and grade it once more.
    """

    folder: Path

    def keep(self, store: ResultsStore, trial: TrialRecord, checks: Sequence[CheckRecord]) -> None:
        """Write ``checks`` of a stored trial to ``store``: all of them, whenever this process dies.

        Raises:
            StoreError: one cannot be written.
        """
        whole = _Checks(
            plan_id=trial.plan_id, trial_sha256=store.digest_of(trial.identity), checks=tuple(checks)
        )
        path = self.folder / f"{whole.trial_sha256}.json"
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text(whole.model_dump_json(), encoding="utf-8")
        os.replace(partial, path)  # noqa: PTH105 - the name says that it replaces
        try:
            _write(store, whole)
        except (OverwriteError, SecretFound):
            path.unlink()
            raise
        path.unlink(missing_ok=True)

    def settle(self, store: ResultsStore) -> set[Key]:
        """Bring into ``store`` what a killed process had graded and not written, or not wholly.

        Returns:
            Keys of the trials that have one run more now.
        """
        store.settle()
        settled: set[Key] = set()
        for path in sorted(self.folder.glob("*.json")):
            with contextlib.suppress(OSError, ValidationError):
                whole = _Checks.model_validate_json(path.read_bytes())
                identity = whole.checks[0].trial
                if not store.has_trial(identity) or store.digest_of(identity) != whole.trial_sha256:
                    continue
                # Another command took the number, or it holds a secret: the trial is graded anew.
                with contextlib.suppress(OverwriteError, SecretFound):
                    _write(store, whole)
                    if all(check.status is not CheckStatus.ERROR for check in whole.checks):
                        settled.add(identity.key)
                path.unlink(missing_ok=True)
        return settled


def _write(store: ResultsStore, whole: _Checks) -> None:
    for check in whole.checks:
        store.write_check(whole.plan_id, check)
