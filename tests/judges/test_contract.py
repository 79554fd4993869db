"""Every judge keeps the contract: it says who it is, fails in words, and never puts a key into a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import ConfigurationError, UsageError
from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.judges import judge
from runner.judges.base import AGENTIC, DIRECT, Judge, Question
from runner.judges.registry import JUDGES, MEMBERS
from runner.store import slug
from tests.harnesses.real.stage import INSTALLED
from tests.judges.made import brief

KEY = "a-key-that-nobody-may-see"
AGENTS = ("codex", "claude-code")


def ready(name: str) -> Judge:
    """The judge, or a skip that says how to install its program."""
    found = judge(name)
    try:
        found.version(INSTALLED)
    except ConfigurationError as error:
        pytest.skip(f"{error.what}: {error.remedy}")
    return found


def question(found: Judge, folder: Path, *, port: int = 9) -> Question:
    """A question to a model that is not there."""
    for name in ("home", "repository"):
        (folder / name).mkdir(exist_ok=True)
    protocol = found.protocols[0]
    root = "" if protocol is WireProtocol.MESSAGES else "/v1"
    made = brief(workspace=str(folder / "repository"))
    return Question(
        prompt=made.prompt,
        schema=made.schema,
        endpoint=Endpoint(f"http://127.0.0.1:{port}{root}", protocol, "judge-1", KEY),
        home=folder / "home",
        workspace=folder / "repository",
        installed=INSTALLED,
        effort="high",
    )


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_says_who_it_is(name: str) -> None:
    found = judge(name)
    assert found.name == name == slug(name)
    assert found.title
    assert found.method in {AGENTIC, DIRECT}
    assert found.protocols
    assert found.demonstration is (name == "replay")
    assert all(hasattr(found, member) for member in MEMBERS)


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_that_was_killed_has_left_an_error_and_no_answer(name: str, tmp_path: Path) -> None:
    found = judge(name)
    reply = found.left_behind(question(found, tmp_path))
    assert reply.answer is None
    assert "killed" in (reply.error or "")
    assert reply.usage is None


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_is_not_installed_says_how_to_install_it(name: str, tmp_path: Path) -> None:
    found = judge(name)
    with pytest.raises(ConfigurationError, match=f"invoke harness-install {name}"):
        found.version(tmp_path)


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(
    "output", [b"", b"no json\n", b'{"type": "turn.started"}\n{"type": "resul', b"\xff\xfe\n"]
)
def test_broken_output_is_an_error_and_no_answer(name: str, output: bytes, tmp_path: Path) -> None:
    found = ready(name)

    def start(launch: Launch, stdout: Path) -> str | None:
        stdout.write_bytes(output)
        return None

    reply = found.ask(question(found, tmp_path), start)
    assert reply.answer is None
    assert reply.error
    assert reply.files_read == ()


@pytest.mark.parametrize("name", AGENTS)
def test_a_judge_that_had_to_be_stopped_says_why(name: str, tmp_path: Path) -> None:
    found = ready(name)
    reply = found.ask(question(found, tmp_path), lambda *_: "no answer within 5 seconds")
    assert (reply.answer, reply.error) == (None, "no answer within 5 seconds")


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("confined", [True, False])
def test_an_agent_may_read_and_not_write_and_its_key_is_in_no_argument(
    name: str, confined: bool, tmp_path: Path
) -> None:
    found, launches = ready(name), []

    def start(launch: Launch, stdout: Path) -> str | None:
        launches.append(launch)
        return "stopped"

    asked = replace(question(found, tmp_path), confined=confined)
    found.ask(asked, start)
    [launch] = launches
    words = " ".join(launch.command)
    assert KEY not in words
    assert KEY in launch.environment.values()
    assert launch.stdin == asked.prompt.encode()
    assert launch.working_directory == tmp_path / "repository"
    if name == "codex":
        assert ("--sandbox read-only" in words) is not confined
        assert ("--dangerously-bypass-approvals-and-sandbox" in words) is confined
        assert "--output-schema" in words
    else:
        assert "--tools Read,Grep,Glob" in words
        assert "--json-schema" in words


def test_an_unknown_judge_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'codex'"):
        judge("codexx")


@pytest.mark.parametrize(
    "path", ["runner.judges.registry:JUDGES", "runner.nowhere:Judge", "runner.judges.base:Nobody"]
)
def test_an_import_path_must_lead_to_a_judge(path: str) -> None:
    with pytest.raises(ConfigurationError):
        judge(path)


def test_an_outsiders_judge_is_found_by_its_import_path() -> None:
    assert judge("tests.engine.judges:Scripted").name == "scripted"
