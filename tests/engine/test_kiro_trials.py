"""Trials of an agent that brings its own way to its vendor: files hidden, network open, everything said."""

from __future__ import annotations

import gzip
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.engine.isolation.container import Runtime
from runner.engine.isolation.level import Container, Unconfined
from runner.engine.places import Places
from runner.engine.resolution import complete, resolve_all
from runner.engine.sessions import require_ways
from runner.engine.settings import read_settings
from runner.errors import ConfigurationError
from runner.records import Outcome, TrialRecord
from tests.engine.runs import demonstration, run
from tests.harnesses.kiro_standin import REFUSED_KEY, put_stand_in

KEY = "kiro-key-of-a-test-0123456789"
FLAGS: dict[str, object] = {
    "harness": "kiro-cli",
    "provider": "kiro",
    "tasks": "quarter-hour-default",
    "max_retries": 0,
    "max_topups": 0,
}


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Somebody on this machine's loopback, which only an open network reaches."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


@pytest.fixture
def put(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the stand-in, first on the search path."""
    folder = tmp_path_factory.mktemp("programs")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def trial(places: Places, model: str, *, key: str = KEY, **more: object) -> TrialRecord:
    """The record of the one trial of a run."""
    code, printed = run(places, {**FLAGS, "model": model, **more}, environment={"KIRO_API_KEY": key})
    [stored] = demonstration(places).trials()
    assert code in {0, 3}, printed
    return stored.record


def test_a_trial_with_the_stand_in_is_solved_graded_and_kept_apart(places: Places, put: Path) -> None:
    put_stand_in(put)
    code, printed = run(places, {**FLAGS, "model": "solves"}, environment={"KIRO_API_KEY": KEY})
    assert code == 0, printed
    [stored] = demonstration(places).trials()
    record = stored.record
    assert record.outcome is Outcome.COMPLETED, record.outcome_reason
    assert {check.status.value for check in stored.checks} == {"passed"}
    assert record.demonstration
    assert (record.usage, record.turns) == (None, None)
    assert record.invocations[0].requests_seen is None
    assert KEY not in record.model_dump_json()


def test_its_open_network_is_told_and_files_of_the_machine_stay_hidden(
    places: Places, put: Path, listener: socket.socket
) -> None:
    private = places.root / "private-notes.txt"
    private.write_text("secret", encoding="utf-8")
    host, port = listener.getsockname()
    acts = [{"connect": [host, port], "say": "I got out"}, {"look": str(private)}, {"look": "README.md"}]
    put_stand_in(put, {"looks": {"acts": acts, "stderr": " ▸ Credits: 0.5 • Time: 1s\n"}})
    record = trial(places, "looks", isolation="sandbox")
    with listener.accept()[0] as connection:
        assert connection.recv(100) == b"I got out"
    assert record.isolation == "sandbox"
    assert "network-open" in {warning.code for warning in record.warnings}
    assert _stream(places).splitlines() == ["hidden", "there"]


def test_a_key_that_is_refused_later_is_no_result_and_is_not_tried_again(places: Places, put: Path) -> None:
    put_stand_in(put)
    record = trial(places, "no-credential", max_retries=3)
    assert record.outcome is Outcome.MODEL_ERROR
    assert "Authentication failed" in record.outcome_reason
    assert len(record.invocations) == 1


def test_a_key_that_is_refused_at_once_stops_the_run_before_anything_starts(
    places: Places, put: Path
) -> None:
    put_stand_in(put)
    with pytest.raises(ConfigurationError, match="the key is refused") as caught:
        run(places, {**FLAGS, "model": "solves"}, environment={"KIRO_API_KEY": REFUSED_KEY})
    assert "export KIRO_API_KEY" in caught.value.remedy
    assert list(demonstration(places).trials()) == []


def test_a_container_has_no_way_out_and_says_so_before_anything_starts(places: Places, put: Path) -> None:
    put_stand_in(put)
    groups = resolve_all(
        [complete(read_settings(None, {**FLAGS, "model": "solves", "isolation": "container"}), places)],
        places,
    )
    container = Container(Runtime(Path("/usr/bin/true"), True, ""))
    with pytest.raises(ConfigurationError, match="no way out of level container") as caught:
        require_ways(groups, container)
    assert "--isolation sandbox" in caught.value.remedy
    require_ways(groups, Unconfined())


def test_no_other_agent_can_use_the_vendors_cloud_and_kiro_nothing_else(places: Places, put: Path) -> None:
    put_stand_in(put)
    with pytest.raises(ConfigurationError, match="kiro offers managed"):
        run(places, {"harness": "loop", "provider": "kiro", "model": "m"})
    with pytest.raises(ConfigurationError, match="kiro-cli speaks managed"):
        run(places, {"harness": "kiro-cli", "provider": "replay"})


def _stream(places: Places) -> str:
    """What the agent of the only trial printed."""
    [path] = places.streams.rglob("*.gz")
    return gzip.decompress(path.read_bytes()).decode()
