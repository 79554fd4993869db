"""Reporting: ``invoke bench-report``: reports of a run from its files, without asking anybody again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from runner.endpoint.reports.comma import timings_csv
from runner.endpoint.reports.html import html
from runner.endpoint.reports.markdown import markdown
from runner.endpoint.reports.markdown import table as markdown_table
from runner.endpoint.reports.tables import report_of, timings_table
from runner.engine.bench.ending import again
from runner.engine.places import Places
from runner.errors import ConfigurationError, UsageError
from runner.store.bench_run import BenchRun, find_run, replace_file
from runner.store.layout import StoreRoots

FORMATS = {
    "md": "report.md",
    "html": "report.html",
    "timings": "timings.md",
    "csv": "timings.csv",
    "json": "summary.json",
}
EVERY = "all"


def bench_report_command(
    places: Places, say: Callable[[str], None], *, wanted: str, form: str, out: str
) -> int:
    """Show or write reports of a run; its figures are worked out again from the trials.

    Args:
        wanted: id of the run, or ``latest``.
        form: one of ``FORMATS``, or ``all``, which needs ``out``.
        out: file, or for ``all`` a folder; empty shows the report.

    Raises:
        UsageError: no such run or format.
        ConfigurationError: there is no place to write to.
    """
    if form not in {*FORMATS, EVERY}:
        raise UsageError(f"there is no format {form!r}", remedy=f"known: {', '.join(FORMATS)}, {EVERY}")
    run = find_run(StoreRoots(places.results), wanted, places.scanner({}))
    if form == EVERY:
        if not out:
            raise UsageError("all reports need a folder", remedy="add --out FOLDER")
        for path in write_reports(run, Path(out)):
            say(f"report: {path}")
        return 0
    data = rendered(run, form)
    if out:
        require_folder(Path(out).parent)
        replace_file(Path(out), data)
        say(f"report: {out}")
    else:
        say(data.decode().rstrip("\n"))
    return 0


def require_folder(folder: Path) -> None:
    """Make a folder for reports where there is none.

    Raises:
        ConfigurationError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"no folder for the reports: {error.strerror}",
            where=str(folder),
            remedy="name another with --out",
        ) from None


def rendered(run: BenchRun, form: str) -> bytes:
    """One report of a run."""
    manifest, trials, summary = run.manifest(), run.trials(), again(run)
    if form == "json":
        return summary.to_bytes()
    if form == "csv":
        return timings_csv(trials, manifest.tool.methodology).encode("utf-8", "replace")
    if form == "timings":
        head = [f"# Timings of {manifest.run_id}", "", f"- Methodology: {manifest.tool.methodology}", ""]
        lines = [*head, *markdown_table(timings_table(manifest, summary))]
        return ("\n".join(lines) + "\n").encode()
    report = report_of(manifest, summary, trials)
    return (html(report) if form == "html" else markdown(report)).encode("utf-8", "replace")


def write_reports(run: BenchRun, folder: Path) -> list[Path]:
    """All reports of a run below ``folder``.

    Raises:
        ConfigurationError: there is no such folder, and none can be made.
    """
    require_folder(folder)
    paths = []
    for form, name in FORMATS.items():
        path = folder / f"{run.run_id}-{name}"
        replace_file(path, rendered(run, form))
        paths.append(path)
    return paths
