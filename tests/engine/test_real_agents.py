"""The real coding agents in one matrix, inside the sandbox, each accounted to the token."""

from __future__ import annotations

import io
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from runner.engine.command import chosen_isolation
from runner.engine.configuration import configuration_digest
from runner.engine.matrix import read_matrix
from runner.engine.places import Places
from runner.engine.planning import make_plan
from runner.engine.progress import TerminalObserver
from runner.engine.resolution import complete, resolve_all
from runner.engine.running import Run, Stop, run_plan
from runner.engine.sessions import open_sessions
from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.replay import ReplaySession
from runner.records import Limits, Outcome, TrialRecord
from runner.secrets import Scanner
from tests.agents import RUN_FOR_REAL
from tests.engine.runs import demonstration
from tests.harnesses.real.stage import INSTALLED, installed_harness

MATRIX = f"""
models: [replay-careful]
harnesses: [{", ".join(RUN_FOR_REAL)}]
skills: [fix, swe3]
datasets:
  - dataset: hello-world
    tasks: [totals-by-tag]
"""


def told_by_server(session: ReplaySession, record: TrialRecord) -> tuple[int, int, int, int]:
    """What the server told the clients of this trial: fresh input, cache read, cache write, output."""
    told = session.count(f"{record.plan_id}-{record.position}").told
    return (told.uncached, told.cache_read, told.cache_write, told.output)


def test_every_agent_solves_a_task_with_both_skills_and_its_counts_are_the_servers(places: Places) -> None:
    for name in RUN_FOR_REAL:
        installed_harness(name)
    places.harnesses.symlink_to(INSTALLED.resolve())
    path = places.root / "matrix.yaml"
    path.write_text(MATRIX, encoding="utf-8")
    groups = resolve_all([complete(each, places) for each in read_matrix(path)], places)
    store = demonstration(places)
    plan = make_plan(groups, store, now=datetime.now(UTC))
    store.write_plan(plan)
    isolation = chosen_isolation(groups, places)
    observer = TerminalObserver(Console(file=io.StringIO()))
    with open_sessions(groups, places, os.environ) as sessions:
        run_plan(Run(plan, groups, sessions, places, store, Scanner(), observer, Stop(), isolation))
        for planned in plan.trials:
            stored = store.trial(planned.identity)
            record, session = stored.record, sessions.of(planned.identity.cell)
            assert isinstance(session, ReplaySession)
            assert record.outcome is Outcome.COMPLETED, record.outcome_reason
            assert record.isolation == isolation.level
            assert {check.status.value for check in stored.checks} == {"passed"}
            assert record.usage is not None
            recorded = (
                record.usage.input_tokens,
                record.usage.cache_read_tokens,
                record.usage.cache_write_tokens,
                record.usage.output_tokens,
            )
            assert recorded == told_by_server(session, record), planned.identity.cell.harness
            assert all(invocation.configuration_sha256 for invocation in record.invocations)
    assert {len(store.trial(each.identity).record.artifacts) for each in plan.trials} == {2, 6}


@pytest.mark.parametrize("name", RUN_FOR_REAL)
def test_what_an_agent_is_set_up_with_has_one_digest_wherever_it_runs(name: str, tmp_path: Path) -> None:

    found = installed_harness(name)
    digests = set()
    for number in range(2):
        folder = tmp_path / f"trial-{number}"
        for part in ("workspace", "artifacts", "home"):
            (folder / part).mkdir(parents=True)
        protocol = found.protocols[0]
        suffix = "" if protocol is WireProtocol.MESSAGES else "/v1"
        endpoint = Endpoint(
            f"http://127.0.0.1:{5000 + number}{suffix}", protocol, "m", f"dummy-key-{number}" * 3
        )
        assignment = Assignment(
            prompt="p",
            workspace=folder / "workspace",
            artifacts=folder / "artifacts",
            home=folder / "home",
            endpoint=endpoint,
            limits=Limits(max_turns=5),
            installed=INSTALLED,
        )
        digests.add(configuration_digest(found.launch(assignment), endpoint, str(folder)))
    assert len(digests) == 1
