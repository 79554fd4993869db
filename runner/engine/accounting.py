"""Accounting of the installed agents: each runs against the built-in model server, counts beside counts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from runner.engine.places import Places
from runner.engine.supervision import supervise
from runner.errors import ConfigurationError
from runner.harnesses.accounting import Account, account_all
from runner.harnesses.accounting_cassette import write_cassette
from runner.harnesses.accounting_table import to_markdown, to_rows
from runner.harnesses.registry import HARNESSES, harness
from runner.records import AccountingReport
from runner.replay import ReplayServer

TIMEOUT_SECONDS = 60.0


def account_installed(
    places: Places, progress: Callable[[str], None], names: Sequence[str] | None = None
) -> Account:
    """Harnesses through every mishap, one after the other; one that is not installed is skipped, with why.

    Args:
        names: of harnesses, or import paths; every registered one when left out.

    Raises:
        UsageError: there is no such harness.
    """
    with tempfile.TemporaryDirectory(prefix="accounting-") as scratch:
        folder = Path(scratch)
        with ReplayServer(write_cassette(folder / "cassettes")) as server:
            return account_all(
                [harness(name) for name in names or sorted(HARNESSES)],
                server=server,
                folder=folder / "runs",
                installed=places.harnesses,
                start=lambda launch, out, stop: supervise(
                    launch, stdout=out, timeout_seconds=TIMEOUT_SECONDS, cancelled=stop
                ),
                progress=progress,
            )


def read_report(path: Path) -> AccountingReport:
    """The rows that are kept at ``path``; none where there is no such file.

    Raises:
        ConfigurationError: the file holds something else.
    """
    if not path.is_file():
        return AccountingReport(rows=())
    try:
        return AccountingReport.model_validate_json(path.read_bytes())
    except ValueError as error:
        raise ConfigurationError(
            f"is no accounting data: {error}", where=path.name, remedy="restore it from git"
        ) from None


def merged(kept: AccountingReport, account: Account, taken_on: date) -> AccountingReport:
    """``kept`` with the rows of the harnesses that ran now in place of their older ones."""
    ran = {row.harness for row in account.rows}
    rows = [row for row in kept.rows if row.harness not in ran]
    rows += to_rows(account.rows, account.versions, taken_on)
    return AccountingReport(rows=tuple(sorted(rows, key=lambda row: row.harness)))


def write_report(path: Path, report: AccountingReport) -> None:
    """Write ``report`` for the site to show."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report.model_dump_json(indent=1) + "\n", encoding="utf-8")


def accounting_command(
    places: Places, say: Callable[[str], None], names: Sequence[str] | None, *, keep: bool
) -> int:
    """``invoke accounting``: 0 when every count agrees, 3 otherwise.

    Args:
        names: of harnesses, or import paths; every registered one when left out.
        keep: put the rows where the site reads them, in place of older ones, instead of showing them.

    Raises:
        UsageError: there is no such harness.
    """
    account = account_installed(places, say, names)
    for name, reason in account.skipped.items():
        say(f"skipped {name}: {reason}")
    if keep:
        path = places.reference / "accounting.json"
        write_report(path, merged(read_report(path), account, datetime.now(UTC).date()))
    else:
        say(to_markdown(account.rows, account.versions))
    return 0 if all(row.agrees for row in account.rows) else 3
