"""Every published summary is recomputed from the committed records, to the published digits."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.records import CostBasis, Standing
from tests.importers import figures

FILES = figures.run_files()


def test_the_65_published_cells_are_all_in_the_store() -> None:
    counted = {
        stored.record.identity.cell.key
        for stored in figures.committed()
        if stored.record.standing is Standing.COUNTED
    }
    assert len(FILES) == len(counted) == 65


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_published_summary_follows_from_our_records(path: Path) -> None:
    summary = figures.read(path)["published_summary"]
    cell = figures.cell_of_file(path)
    assert len(cell.trials) == summary["num_tasks"]
    assert len(cell.scored) == summary["num_scored"]
    assert cell.unscored_tasks == sorted(summary["failed_tasks"])
    assert len(cell.unscored_tasks) == summary["num_failed"]
    assert figures.prints_as(cell.mean_score, summary["mean_task_score_excl_failed"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_published_mean_cost_follows_from_our_records_or_was_never_a_cost(path: Path) -> None:
    document = figures.read(path)
    printed = document["published_summary"]["mean_cost_usd_excl_failed"]
    cell = figures.cell_of_file(path)
    amounts = [cost for stored in cell.scored for cost in stored.record.costs]
    known = [cost.amount_usd for cost in amounts if cost.amount_usd is not None]
    if document["provider"] != "endpoint":
        assert figures.prints_as(figures.mean(known), printed)
    elif not printed:
        # 0.00 and null both say nothing about a model on its own machine: neither is a free model.
        assert known == []
    else:
        # The agent's list price is kept and reproduces the source, but it is no cost of ours.
        assert {cost.basis for cost in amounts} == {CostBasis.NOTIONAL}
        assert figures.prints_as(figures.mean(known), printed)


def test_the_superseded_run_is_kept_beside_the_one_that_replaces_it() -> None:
    path = figures.DATA / "pi" / "extra" / "claude-opus-5__swe3__mcp-gateway-registry__superseded.json"
    cell = figures.cell_of_file(path)
    assert {stored.record.identity.trial for stored in cell.trials} == {2}
    assert {stored.record.standing for stored in cell.trials} == {Standing.SUPERSEDED}
    assert figures.prints_as(
        cell.mean_score, figures.read(path)["published_summary"]["mean_task_score_excl_failed"]
    )
    assert all("last turn" in (stored.record.standing_reason or "") for stored in cell.trials)


def test_probes_never_count() -> None:
    probes = [stored for stored in figures.committed() if stored.record.standing is Standing.PROBE]
    assert len(probes) == 4
    assert {stored.record.identity.cell.dataset for stored in probes} == {"hello-world-sanity"}
    assert sum(len(stored.judgements) for stored in probes) == 2
