"""The row of the source stands in the record as it was printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers import figures

FILES = [*figures.run_files(), *sorted((figures.DATA / "pi" / "extra").glob("claude-*.json"))]
ELSEWHERE = {"task", "ref", "scores", "kv_cache_usage"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_figure_of_every_row_is_kept(path: Path) -> None:
    document = figures.read(path)
    by_task = {stored.record.identity.task: stored for stored in figures.cell_of_file(path).trials}
    assert sorted(by_task) == sorted(row["task"] for row in document["tasks"])
    for row in document["tasks"]:
        stored = by_task[row["task"]]
        assert stored.record.published is not None
        kept = stored.record.published.model_dump()
        for key, printed in row.items():
            if key not in ELSEWHERE:
                assert kept[key] == printed, key
        assert kept["task_ref"] == row.get("ref", document["dataset_ref"])
        assert kept["run_date"] == document.get("run_date")
        cache = row.get("kv_cache_usage") or {}
        assert (kept["kv_cache_peak"], kept["kv_cache_mean"]) == (cache.get("peak"), cache.get("mean"))
        judged = {
            name: score.model_dump()
            for judgement in stored.judgements
            for name, score in (judgement.scores or {}).items()
        }
        assert judged == (row.get("scores") or {})
