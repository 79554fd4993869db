"""Verifying: what a long list of findings comes down to."""

from __future__ import annotations

from pathlib import Path

from runner.engine.places import Places
from runner.engine.verifying import verify_command
from runner.store import ResultsStore
from tests import examples


def test_the_trials_that_a_plan_has_not_come_to_are_two_lines_not_one_each(tmp_path: Path) -> None:
    places = Places(tmp_path)
    plan = examples.plan()
    entry = plan.trials[0]
    others = [
        entry.model_copy(update={"identity": entry.identity.model_copy(update={"trial": number})})
        for number in range(11, 15)
    ]
    ResultsStore(places.results).write_plan(plan.model_copy(update={"trials": tuple(others)}))
    lines: list[str] = []
    assert verify_command(places, {}, None, lines.append) == 3
    assert [line.split(":")[0] for line in lines] == [
        "results",
        "  and so 3 more trials of this plan",
        lines[-1],
    ]
    assert lines[0].endswith(f"invoke run --resume {plan.plan_id}")
    assert lines[-1] == "1 store checked, 4 findings"
