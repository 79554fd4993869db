"""Budgets of money: they hold where the endpoint tells its tokens, and where it tells none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.engine.bench.ledger import MONEY_SPENT
from runner.engine.bench.standing import bench_standing
from runner.store.bench_run import find_runs
from tests.engine.bench.picky import STREAM, picky
from tests.engine.bench.project import make_project, options_of

PRICES = """
schema_version: 1
provider: paid
currency: USD
sources:
  list: {title: A list, version: "1", url: "https://example.org", license: MIT}
rows:
  - model: m
    prices: {input: 1000, output: 5000}
    effective_from: 2026-01-01
    source: list
    entry: m
    checked_on: 2026-11-30
"""
TARGET = """
schema_version: 1
model: paid
title: Paid
mappings:
  - {{provider: paid, model_id: m, protocol: chat-completions, base_url: "{url}", source: made up,
     checked_on: 2026-11-30}}
"""


@pytest.mark.parametrize(("told", "dollars"), [(True, 0.2), (False, 1.5)], ids=["told", "not told"])
def test_a_limit_in_dollars_is_kept_also_where_no_token_is_told(
    tmp_path: Path, told: bool, dollars: float
) -> None:
    project = make_project(tmp_path, [("one", ())])
    (project.places.prices / "paid.yaml").write_text(PRICES, encoding="utf-8")
    with picky(lambda _body: None, STREAM if told else STREAM[:-1]) as server:
        (project.places.datasets / "targets" / "paid.yaml").write_text(TARGET.format(url=server.url))
        # A request is 10 tokens in and 5 out: 3.5 cents.
        options = options_of(
            models=("paid",), cases=("seeded_grounded_unknown",), runs=60, budget_usd=dollars
        )
        assert project.bench(options) == 3
        sent = len(server.heard)
        # Money is for all sittings together: nothing is asked again, nor is anybody told to try.
        assert project.bench(resume="latest") == 3
        assert len(server.heard) == sent
    told_so = [line for line in project.said if "sittings" in line]
    assert len(told_so) == 2
    assert not any("invoke bench --resume" in line for line in project.said)
    (run,) = find_runs(project.places.results)
    manifest, trials, summary = run.manifest(), run.trials(), run.summary()
    assert summary is not None
    asked = [trial for trial in trials if trial.skipped is None]
    assert {trial.skipped for trial in trials} == {None, MONEY_SPENT}
    assert len(trials) == len(run.trials_path.read_bytes().splitlines()) == 60
    assert summary.ended_reason == MONEY_SPENT
    standing = bench_standing(run, project.places, datetime.now(UTC))
    assert (standing.done, standing.skipped, standing.left) == (len(asked), 60 - len(asked), 0)
    assert standing.resume is None
    (before,) = manifest.preflight
    if told:
        # What was asked before the run is in the budget, and not in the run's own figures.
        assert (before.requests, before.cost_usd) == (1, 0.035)
        assert len(asked) == 5
        assert summary.targets[0].money.total_usd == pytest.approx(0.035 * 5)
    else:
        assert before.cost_usd is None
        assert before.charged_usd > 0.035
        assert before.notes == ("it tells no token counts: costs and token rates will be unknown",)
        assert 1 <= len(asked) < 1.5 / 0.035
        assert summary.targets[0].money.total_usd is None
