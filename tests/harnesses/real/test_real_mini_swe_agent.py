"""The real mini-swe-agent: recorded counts equal the server's own, over each protocol."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.harnesses.accounting import CASES, KEY
from runner.harnesses.accounting_cassette import DATASET, EDIT, ENDLESS, MODEL
from runner.harnesses.base import Assignment, Reading
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits
from tests.harnesses.real.stage import INSTALLED, Stage, installed_harness, open_stage

CHAT, MESSAGES, RESPONSES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES
BY_NAME = {case.name: case for case in CASES}
RUNS = [
    *((CHAT, name) for name in ("retry", "timeout", "no-usage", "no-cache-detail")),
    (MESSAGES, "plain"),
    (RESPONSES, "plain"),
]


@pytest.mark.parametrize(
    ("protocol", "name"), [pytest.param(*each, id=f"{each[0].value}-{each[1]}") for each in RUNS]
)
def test_recorded_counts_equal_the_servers_own(protocol: WireProtocol, name: str, tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        row = stage.run("mini-swe-agent", protocol, BY_NAME[name])
        reading = row.reading
        codes = {warning.code for warning in reading.warnings}
        assert row.agrees, (row.recorded, row.true, row.partly)
        assert reading.is_error is (name == "timeout"), reading
        assert (reading.usage is None) is (name == "no-usage")
        assert ("usage-not-reported" in codes) is (name == "no-usage")
        assert ("usage-is-lower-bound" in codes) is (name == "timeout")
        assert ("reasoning-not-reported" in codes) is (name == "no-cache-detail")
        if not reading.is_error:
            assert (reading.turns, reading.stop_reason) == (4, "Submitted")
            assert "a + b" in (stage.workspace(row) / "calc.py").read_text()


def run(stage: Stage, task: str, *, prompt: str = "", limits: Limits | None = None) -> Reading:
    """Run a task to its end, with a file in the workspace that would divert it, were it read."""
    found = installed_harness("mini-swe-agent")
    for name in ("workspace", "home", "artifacts"):
        (stage.folder / name).mkdir()
    workspace = stage.folder / "workspace"
    (workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (workspace / "mini.yaml").write_text("agent: {system_template: PLANTED, step_limit: 1}\n")
    base = stage.server.url_for(run="mini", scenario=f"{DATASET}/{task}")
    given = Assignment(
        prompt=f"workspace: {workspace}\n{prompt}",
        workspace=workspace,
        artifacts=stage.folder / "artifacts",
        home=stage.folder / "home",
        endpoint=Endpoint(base + "/v1", CHAT, MODEL, KEY, context_window=400_000),
        limits=limits or Limits(),
        installed=INSTALLED,
    )
    out = stage.folder / "out"
    supervise(found.launch(given), stdout=out, timeout_seconds=90, cancelled=threading.Event())
    return found.read(out, given)


def test_its_limit_of_turns_ends_a_run_without_success(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        reading = run(stage, ENDLESS, limits=Limits(max_turns=2))
        assert (reading.limit_hit, reading.turns, reading.is_error) == ("turns", 2, True)
        assert reading.usage is not None
        assert reading.usage.output_tokens == stage.server.count("mini").told.output


def test_a_large_prompt_of_any_characters_arrives_and_the_key_is_in_no_file(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        prompt = "\N{GRINNING FACE} {{ not a template }} {% nor a command %}\n" + "a b c d e f g\n" * 15_000
        assert not run(stage, EDIT, prompt=prompt).is_error
        trajectory = (stage.folder / "home" / "agent" / "trajectory.json").read_text()
        assert "{{ not a template }} {% nor a command %}" in trajectory
        assert trajectory.count("a b c d e f g") >= 15_000
        assert "PLANTED" not in trajectory
        files = [path for path in (stage.folder / "home").rglob("*") if path.is_file()]
        assert not any(KEY.encode() in path.read_bytes() for path in files)
