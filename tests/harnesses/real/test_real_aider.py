"""The real aider: exact counts although it shows rounded ones, edits by blocks, artifacts and no litter."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import pytest

from runner.engine.supervision import supervise
from runner.harnesses.accounting import CASES, KEY, Case
from runner.harnesses.accounting_cassette import DATASET, EDIT, MODEL
from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits
from tests.harnesses.real.stage import INSTALLED, installed_harness, open_stage

CHAT, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES
BY_NAME = {case.name: case for case in CASES}
# It makes one request where others make four, so it is stopped at its first.
BY_NAME["timeout"] = Case("timeout", "Stopped", faults=("hang",), stop_after_requests=1)
RUNS = [
    *((CHAT, name) for name in ("plain", "failure", "timeout", "no-usage")),
    (MESSAGES, "plain"),
]


@pytest.mark.parametrize(
    ("protocol", "name"), [pytest.param(*each, id=f"{each[0].value}-{each[1]}") for each in RUNS]
)
def test_recorded_counts_equal_the_servers_own(protocol: WireProtocol, name: str, tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        row = stage.run("aider", protocol, BY_NAME[name])
        reading = row.reading
        codes = {warning.code for warning in reading.warnings}
        if protocol is MESSAGES:
            assert row.recorded["reasoning"] is None
            assert "reasoning-not-reported" in codes
            known = [each for each in row.true if each != "reasoning"]
            assert [row.recorded[each] for each in known] == [row.true[each] for each in known]
        else:
            assert row.agrees, (row.recorded, row.true, row.partly)
        assert reading.is_error is (name in {"failure", "timeout"}), reading
        assert (reading.usage is None) is (name in {"no-usage", "timeout"})
        assert ("usage-not-reported" in codes) is (name == "no-usage")
        assert ("usage-is-lower-bound" in codes) is (name == "timeout")
        if not reading.is_error:
            assert reading.turns == 1
            assert "a + b" in (stage.workspace(row) / "calc.py").read_text()
        assert [path.name for path in stage.workspace(row).iterdir()] == ["calc.py"]


def test_in_a_repository_it_asks_for_files_and_obeys_and_leaves_nothing_but_its_edit(tmp_path: Path) -> None:
    found = installed_harness("aider")
    for name in ("workspace", "home", "artifacts"):
        (tmp_path / name).mkdir()
    workspace = tmp_path / "workspace"
    (workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (workspace / ".aider.conf.yml").write_text("auto-commits: true\nopenai-api-base: http://127.0.0.1:9/v1\n")
    (workspace / ".env").write_text("OPENAI_API_BASE=http://127.0.0.1:9/v1\n")
    for words in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "c"),
    ):
        subprocess.run(["git", *words], cwd=workspace, check=True)
    with open_stage(tmp_path) as stage:
        base = stage.server.url_for(run="aider", scenario=f"{DATASET}/{EDIT}")
        given = Assignment(
            prompt=f"workspace: {workspace}\nFix add().\n" + "a b c d e f g\n" * 15_000,
            workspace=workspace,
            artifacts=tmp_path / "artifacts",
            home=tmp_path / "home",
            endpoint=Endpoint(base + "/v1", CHAT, MODEL, KEY, context_window=400_000),
            limits=Limits(),
            installed=INSTALLED,
        )
        out = tmp_path / "out"
        supervise(found.launch(given), stdout=out, timeout_seconds=90, cancelled=threading.Event())
        reading = found.read(out, given)
        assert not reading.is_error, reading
        assert reading.turns == 2
        assert reading.usage is not None
        assert reading.usage.output_tokens == stage.server.count("aider").told.output
    assert "a + b" in (workspace / "calc.py").read_text()
    status = subprocess.run(["git", "status", "--porcelain"], cwd=workspace, capture_output=True, check=True)
    assert status.stdout == b" M calc.py\n"
    files = [path for path in given.home.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    shown = [found.trace(line) for line in out.read_text().splitlines()]
    assert "Applied edit to calc.py" in shown
