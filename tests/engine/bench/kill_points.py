"""A benchmark that dies at one point after another, and is resumed each time; what came of it, as JSON."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from runner.errors import HarnessmarkError
from runner.store import verify
from runner.store.bench_run import BenchRun, find_runs
from tests.engine.bench.project import Project, make_project, options_of
from tests.engine.bench.test_money import PRICES, TARGET
from tests.kill_points import killed_at

OPTIONS = {
    "models": ("paid",),
    "profile": "smoke",
    "cases": ("seeded_grounded_unknown",),
    "loads": ("concurrency=2",),
    "load_requests": 3,
    "load_warm_up": 1,
    "concurrency": 2,
    "keep_responses": False,
}
WHOLE = {"manifest.json", "trials.jsonl", "summary.json", "state.json"}


def runs_of(project: Project) -> tuple[BenchRun, ...]:
    return find_runs(project.places.results)


def bench(project: Project) -> int:
    """Begin the run, or go on with the one that is there."""
    try:
        if runs_of(project):
            return project.bench(resume="latest")
        return project.bench(options_of(**OPTIONS))
    except HarnessmarkError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def made(root: Path, url: str) -> Project:
    project = make_project(root, [("one", ())])
    (project.places.prices / "paid.yaml").write_text(PRICES, encoding="utf-8")
    (project.places.datasets / "targets" / "paid.yaml").write_text(TARGET.format(url=url), encoding="utf-8")
    return project


def keys_of(project: Project) -> list[str]:
    return [trial.key for run in runs_of(project) for trial in run.trials() if trial.skipped is None]


def killed_and_resumed(root: Path, url: str, at: int) -> dict[str, object]:
    """What is there after a kill at that point and after one more call, which nothing disturbs."""
    project = made(root, url)
    # One that is killed before it is there is begun anew.
    first = killed_at(root, at, lambda: bench(project))
    is_begun, kept = bool(runs_of(project)), keys_of(project)
    last = killed_at(root, 0, lambda: bench(project)) if first == -signal.SIGKILL else first
    (run,) = runs_of(project)
    summary = run.summary()
    files = (path for top in (project.places.results, project.places.artifacts) for path in top.rglob("*"))
    return {
        "at": at,
        "first": first,
        "last": last,
        "begun": is_begun,
        "kept": kept,
        "trials": sorted(keys_of(project)),
        "planned": sorted(each.key for each in run.manifest().planned),
        "cut": None if summary is None else summary.account.cut_requests,
        "dollars": None if summary is None else summary.targets[0].money.total_usd,
        "faults": [found.line() for found in verify(run.root)],
        "left over": [
            path.name
            for path in files
            if is_begun and path.suffix not in {".key", ".lock"} and path.is_file() and path.name not in WHOLE
        ],
    }


def main() -> None:
    """``FOLDER URL POINT...``: one line for each point."""
    folder, url = Path(sys.argv[1]), sys.argv[2]
    for at in map(int, sys.argv[3:]):
        sys.stdout.write(json.dumps(killed_and_resumed(folder / f"at-{at}", url, at)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
