"""The guide on new agents suffices: its class, copied from the page, is a harness that counts right."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.engine.places import Places
from runner.engine.supervision import supervise
from runner.errors import ConfigurationError
from runner.harnesses.accounting import CASES, Case, account, cases_of
from runner.harnesses.accounting_cassette import write_cassette
from runner.harnesses.base import Launch
from runner.harnesses.registry import harness
from runner.records import Outcome
from runner.replay import ReplayServer
from tests.agents import CONTRACT
from tests.engine.runs import demonstration, run

GUIDE = Path(__file__).parents[2] / "site_src" / "new-agent.md"
PROGRAM = Path(__file__).with_name("my_agent_program.py")
PATH = "guides_agent:MyAgent"


def blocks() -> list[str]:
    """The Python blocks of the guide."""
    return re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The guide's class where Python finds it; its import path."""
    folder = tmp_path / "beside"
    folder.mkdir()
    (folder / "guides_agent.py").write_text(blocks()[0], encoding="utf-8")
    shutil.copy(PROGRAM, folder)
    monkeypatch.syspath_prepend(folder)
    yield PATH
    sys.modules.pop("guides_agent", None)


@pytest.mark.parametrize("case", [case for case in CASES if not case.delegates], ids=lambda case: case.name)
def test_the_guides_agent_counts_as_the_server_does(case: Case, importable: str, tmp_path: Path) -> None:
    found = harness(importable)
    assert case in cases_of(found)

    def start(launch: Launch, stdout: Path, stop: threading.Event) -> None:
        supervise(launch, stdout=stdout, timeout_seconds=60, cancelled=stop)

    with ReplayServer(write_cassette(tmp_path / "cassettes")) as server:
        row = account(
            found,
            found.protocols[0],
            case,
            server=server,
            folder=tmp_path / "runs",
            installed=tmp_path / "none",
            start=start,
        )
    assert row.agrees, (row.recorded, row.true, row.partly)
    assert row.requests > 0


def test_the_guides_agent_keeps_the_contract_of_every_harness(importable: str, tmp_path: Path) -> None:
    places = (str(tmp_path / "beside"), os.environ.get("PYTHONPATH", ""))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--basetemp={tmp_path / 'c'}",
            CONTRACT,
        ],
        cwd=GUIDE.parents[1],
        env={
            **os.environ,
            "HARNESSMARK_TEST_HARNESSES": importable,
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_guides_agent_solves_a_task_without_a_change_to_the_project(
    importable: str, places: Places
) -> None:
    code, output = run(places, {"harness": importable, "model": "replay-careful", "count": "1"})
    assert code == 0, output
    [stored] = demonstration(places).trials()
    assert stored.record.identity.cell.harness == "my-agent"
    assert stored.record.outcome is Outcome.COMPLETED
    assert all(check.status.value == "passed" for check in stored.checks)


def test_the_guides_other_block_names_what_an_installation_has(importable: str) -> None:
    space: dict[str, object] = {}
    exec("from runner.harnesses.installation import *", space)  # noqa: S102 - our own page
    exec(blocks()[1], space)  # noqa: S102
    assert getattr(space["PINNED"], "version", None) == "3.1.4"


def test_every_module_that_the_guide_names_is_there() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    named = set(re.findall(r"runner[/.]harnesses[/.][a-z_]+(?:\.py)?", text))
    assert named
    for each in named:
        path = each.removesuffix(".py").replace(".", "/")
        root = GUIDE.parents[1]
        assert (root / f"{path}.py").is_file() or (root / path).is_dir(), each


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("class X(:\n", "cannot be loaded"),
        ("raise RuntimeError('at import')\n", "cannot be loaded"),
        ("class MyAgent:\n    def __init__(self, needed): ...\n", "cannot be made"),
        ("class MyAgent:\n    name = 'Has A Space'\n", "no harness: it has no title, homepage, protocols"),
    ],
)
def test_a_broken_class_is_a_mistake_of_the_user(
    text: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_agent.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=complaint):
        harness("broken_agent:MyAgent")
    sys.modules.pop("broken_agent", None)


@pytest.mark.parametrize(
    ("name", "complaint"), [("codex", "is the name of another harness"), ("My Agent", "is no name for")]
)
def test_a_name_that_would_mix_results_is_refused(
    name: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = blocks()[0].replace('"my-agent"', f'"{name}"', 1)
    (tmp_path / "named_agent.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=complaint):
        harness("named_agent:MyAgent")
    sys.modules.pop("named_agent", None)
