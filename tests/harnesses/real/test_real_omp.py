"""The real omp: recorded counts equal the server's own, subagents included, and it keeps to its folders."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.harnesses.accounting import CASES, KEY
from runner.harnesses.accounting_cassette import DATASET, EDIT, MODEL
from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits
from tests.harnesses.real.stage import INSTALLED, installed_harness, open_stage

CHAT, MESSAGES, RESPONSES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES
BY_NAME = {case.name: case for case in CASES}
RUNS = [
    *((CHAT, name) for name in ("plain", "retry", "failure", "timeout", "cut", "no-usage")),
    (CHAT, "subagent-background"),
    (MESSAGES, "plain"),
    (RESPONSES, "plain"),
]
FAILS = {"failure", "timeout"}


@pytest.mark.parametrize(
    ("protocol", "name"), [pytest.param(*each, id=f"{each[0].value}-{each[1]}") for each in RUNS]
)
def test_recorded_counts_equal_the_servers_own(protocol: WireProtocol, name: str, tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        row = stage.run("omp", protocol, BY_NAME[name])
        reading = row.reading
        codes = {warning.code for warning in reading.warnings}
        assert reading.is_error is (name in FAILS), reading
        assert (reading.usage is None) is (name == "no-usage")
        if protocol is MESSAGES:
            # It does not read this count, and says nothing in its place.
            assert row.recorded["reasoning"] is None
            assert "reasoning-not-reported" in codes
            known = [each for each in row.true if each != "reasoning"]
            assert [row.recorded[each] for each in known] == [row.true[each] for each in known]
        else:
            assert row.agrees, (row.recorded, row.true, row.partly)
        if name.startswith("subagent"):
            assert row.answered >= 5
            assert reading.turns == 3
        elif not reading.is_error:
            assert reading.turns == 4
            assert "a + b" in (stage.workspace(row) / "calc.py").read_text()


def test_a_large_prompt_arrives_the_key_is_in_no_file_and_nothing_is_read_from_above(tmp_path: Path) -> None:
    found = installed_harness("omp")
    folder = tmp_path / "odd (name) [1]"
    for path in (folder / "workspace", folder / "home", folder / "artifacts"):
        path.mkdir(parents=True)
    for path in (folder, folder / "workspace"):
        (path / "AGENTS.md").write_text(f"PLANTED-{'ABOVE' if path == folder else 'INSIDE'}\n")
    (folder / "workspace" / ".omp").mkdir()
    (folder / "workspace" / ".omp" / "config.yml").write_text("modelRoles: {default: x/y}\n")
    (folder / "workspace" / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    with open_stage(tmp_path) as stage:
        base = stage.server.url_for(run="omp", scenario=f"{DATASET}/{EDIT}")
        given = Assignment(
            prompt=f"workspace: {folder / 'workspace'}\nFix add() in calc.py.\n" + "a b c d e f g\n" * 15_000,
            workspace=folder / "workspace",
            artifacts=folder / "artifacts",
            home=folder / "home",
            endpoint=Endpoint(base + "/v1", CHAT, MODEL, KEY, context_window=400_000),
            limits=Limits(),
            installed=INSTALLED,
        )
        out = folder / "out"
        supervise(found.launch(given), stdout=out, timeout_seconds=60, cancelled=threading.Event())
        assert not found.read(out, given).is_error
        requests = (tmp_path / "requests.jsonl").read_text().splitlines()
        assert min(json.loads(line)["body_bytes"] for line in requests) > 200_000
    files = [path for path in given.home.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    transcript = "".join(path.read_text() for path in given.home.glob("agent/sessions/**/*.jsonl"))
    assert "a b c d e f g" in transcript
    assert "PLANTED-ABOVE" not in transcript
    assert "a + b" in (given.workspace / "calc.py").read_text()
