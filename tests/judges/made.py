"""Made: tasks, cases, briefs and answers for tests of judges."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.datasets import Task, load_dataset
from runner.judges.brief import Brief, Case, Sealing, make_brief
from runner.judges.rubric import Rubric, rubric
from runner.records import CRITERIA

DATASETS = Path(__file__).parent.parent.parent / "datasets"
SEALING = Sealing("candidate-0badcafe", "aaaa1111bbbb2222cccc3333")
PATCH = b"diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
NOTE = b"## What changed\n\nThe constant.\n\n## Verification\n\nNot executed.\n"
FIX: Mapping[str, bytes] = {"patch.diff": PATCH, "implementation.md": NOTE}
WHOLE: Mapping[str, bytes] = {
    "github-issue.md": b"# Issue\n\nIt is wrong.\n",
    "lld.md": b"# Design\n\nChange calc.py.\n",
    "review.md": b"# Review\n\nOne gap.\n",
    "testing.md": b"# Tests\n\nRun them.\n",
    **FIX,
}


def task(name: str = "quarter-hour-default") -> Task:
    """A task of the shipped dataset."""
    return load_dataset(DATASETS / "hello-world.yaml").task_by_id(name)


def case(files: Mapping[str, bytes] = FIX, **names: tuple[str, ...]) -> Case:
    """A submission for that task."""
    return Case(task(), files, names.get("models", ()), names.get("agents", ()))


def brief(files: Mapping[str, bytes] = FIX, by: Rubric | None = None, workspace: str | None = None) -> Brief:
    """The question about a submission."""
    return make_brief(case(files), by or rubric("implementation"), SEALING, workspace=workspace)


def points(*four: int, total: int | None = None, notes: str = "Small.") -> dict[str, object]:
    """The entry of one artifact."""
    return {
        **dict(zip(CRITERIA, four, strict=True)),
        "total": sum(four) if total is None else total,
        "notes": notes,
    }


def document(entries: Mapping[str, Mapping[str, object]], mean: float | None = None) -> dict[str, object]:
    """A whole answer about the task above."""
    totals: Sequence[object] = [entry["total"] for entry in entries.values()]
    known = [total for total in totals if isinstance(total, int)]
    return {
        "task_id": "quarter-hour-default",
        "candidate_id": SEALING.candidate,
        "scores": dict(entries),
        "task_score": round(sum(known) / len(known), 2) if mean is None else mean,
        "verdict": "Sound.",
    }


def answer(*four: int) -> str:
    """A valid answer about the implementation alone."""
    return json.dumps(document({"implementation": points(*(four or (19, 14, 22, 20)))}))
