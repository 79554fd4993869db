"""OpenHands: what it is started with, what is done to it inside, and what its output means."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses import openhands_inside
from runner.harnesses.base import Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.openhands import OpenHands, settings
from runner.harnesses.openhands_log import read_log
from runner.harnesses.openhands_stream import status
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import SAMPLES, assignment, case, classes, lines

CHAT = WireProtocol.CHAT_COMPLETIONS
CASES = "openhands-cases.jsonl"
REQUEST, END = {"event": "request"}, {"event": "end"}
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 9,
    "prompt_tokens_details": {"cached_tokens": 600},
    "cache_creation_input_tokens": 300,
    "completion_tokens_details": {"reasoning_tokens": 4},
}


def answer(usage: object = USAGE) -> dict[str, object]:
    return {"event": "answer", "id": "a", "model": "m", "usage": usage}


def failure(error: str = "BadRequestError: scripted error 400") -> dict[str, object]:
    return {"event": "failure", "error": error}


def left(folder: Path, events: bytes, answers: bytes, state: object) -> Reading:
    """The reading of a run that printed and left these."""
    given = assignment(folder, CHAT)
    (folder / "stdout").write_bytes(events)
    log = OpenHands.log(given)
    saved = log.parent / "conversations" / "c1" / "base_state.json"
    saved.parent.mkdir(parents=True)
    log.write_bytes(answers)
    saved.write_text(json.dumps(state))
    return OpenHands().read(folder / "stdout", given)


def of_case(folder: Path, name: str) -> Reading:
    """The reading of a recorded case."""
    events, answers = (b"".join(case(CASES, f"{name}-{part}")) for part in ("events", "answers"))
    return left(folder, events, answers, json.loads(case(CASES, f"{name}-state")[0]))


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def launched(
    folder: Path, prompt: str = "Do it.", limits: Limits | None = None
) -> tuple[Launch, dict[str, Path]]:
    """The start of a run and its files by name."""
    pretend_installed(harness("openhands"), folder / "installed")
    launch = OpenHands().launch(replace(assignment(folder, CHAT, limits=limits), prompt=prompt))
    return launch, {path.name: path for path in launch.configuration}


def test_a_run_is_the_sum_of_its_answers_exact_and_in_classes(tmp_path: Path) -> None:
    answers = SAMPLES.joinpath("openhands-answers.jsonl").read_bytes()
    reading = left(tmp_path, b"".join(lines("openhands.jsonl")), answers, {"execution_status": "finished"})
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)
    assert (reading.stop_reason, reading.is_error, reading.error) == ("finished", False, None)
    assert (reading.turns, reading.retries, reading.warnings) == (4, 0, ())
    assert reading.usage is not None
    assert reading.usage_by_model == {"ledger-1": reading.usage}


def test_a_refused_request_is_an_error_that_used_nothing(tmp_path: Path) -> None:
    reading = of_case(tmp_path, "failure")
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("error", True, 0)
    assert "scripted error 400" in (reading.error or "")
    assert classes(reading.usage) == (0, 0, 0, 0, 0)


def test_a_stopped_run_yields_what_it_had_and_may_have_used_more(tmp_path: Path) -> None:
    reading = of_case(tmp_path, "stopped")
    assert (reading.stop_reason, reading.is_error, reading.turns) == ("running", True, 1)
    assert classes(reading.usage) == (1304, 4002, 0, 105, 6)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_an_answer_that_broke_off_marks_a_lower_bound_and_a_retry(tmp_path: Path) -> None:
    reading = of_case(tmp_path, "cut")
    assert (reading.is_error, reading.retries, reading.turns) == (False, 1, 4)
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_answers_without_counts_are_unknown_and_never_zero(tmp_path: Path) -> None:
    reading = of_case(tmp_path, "no-usage")
    assert (reading.usage, reading.usage_by_model, reading.is_error) == (None, {}, False)
    assert codes(reading) == {"usage-not-reported"}


def test_a_subagents_answers_are_counted_and_are_no_turns(tmp_path: Path) -> None:
    reading = of_case(tmp_path, "subagent")
    assert classes(reading.usage) == (6614, 20094, 0, 550, 35)
    assert (reading.turns, reading.is_error) == (3, False)


@pytest.mark.parametrize("state", [{}, [], {"execution_status": 7}, {"execution_status": "stuck"}])
def test_without_a_status_that_says_so_nothing_is_finished(tmp_path: Path, state: object) -> None:
    reading = left(tmp_path, b"", b"", state)
    assert reading.is_error
    assert reading.error
    assert (reading.usage, reading.turns, reading.retries) == (None, None, None)


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_stands_in_the_place_of_the_state_is_not_followed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "c" / "base_state.json"
    path.parent.mkdir()
    other = tmp_path / "other"
    other.write_text('{"execution_status": "finished"}')
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(other)
    else:
        path.mkdir()
    assert status(tmp_path) == ""
    assert status(tmp_path / "gone") == ""


EVENTS = st.sampled_from(
    [REQUEST, answer(), answer(None), failure(), failure("Timeout: x"), END, {"event": 7}, {}]
)


@given(events=st.lists(EVENTS, max_size=10))
def test_no_order_of_events_is_read_as_more_than_was_answered(
    events: list[Mapping[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "openhands-log"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    log = read_log(path)
    told = sum(event == answer() for event in events)
    assert len(log.answers) == told + log.silent
    if told:
        assert classes(log.usage) == (
            None if log.silent else (100 * told, 600 * told, 300 * told, 9 * told, 4 * told)
        )
    else:
        assert classes(log.usage) in {None, (0, 0, 0, 0, 0)}
    assert min(log.requests, log.refused, log.lost, log.retries) >= 0
    assert log.retries <= log.requests


@pytest.mark.parametrize("cut", range(0, 1090, 53))
def test_a_log_cut_anywhere_counts_whole_answers_only(cut: int, tmp_path: Path) -> None:
    whole = SAMPLES.joinpath("openhands-answers.jsonl").read_bytes()[:cut]
    (tmp_path / "log").write_bytes(whole)
    log = read_log(tmp_path / "log")
    kept = [json.loads(line) for line in whole.splitlines(keepends=True) if line.endswith(b"\n")]
    assert len(log.answers) in {
        (answered := sum(event["event"] == "answer" for event in kept)),
        answered + 1,
    }
    assert not log.ended


def test_the_window_and_the_longest_answer_are_handed_over(tmp_path: Path) -> None:
    _, files = launched(tmp_path, limits=Limits(max_output_tokens=500))
    told = json.loads(files["agent_settings.json"].read_text())
    assert (told["llm"]["max_input_tokens"], told["llm"]["max_output_tokens"]) == (99_500, 500)
    assert told["condenser"]["max_tokens"] == 79_600
    assert told["condenser"]["llm"]["model"] == "openai/vendor/model:1"


def test_without_a_limit_the_longest_answer_is_a_share_of_the_window(tmp_path: Path) -> None:
    told: Any = settings(assignment(tmp_path, CHAT))
    assert told["llm"]["max_input_tokens"] + told["llm"]["max_output_tokens"] == 100_000


def test_its_folders_lie_below_home_and_its_address_is_the_one_given(tmp_path: Path) -> None:
    launch, files = launched(tmp_path, prompt="/exit\r\nall of it")
    environment = launch.environment
    for name in ("OPENHANDS_PERSISTENCE_DIR", "OPENHANDS_CONVERSATIONS_DIR", "INPUTRC"):
        assert Path(environment[name]).is_relative_to(tmp_path / "home")
    assert environment["OPENHANDS_WORK_DIR"] == str(tmp_path / "workspace")
    assert environment["LLM_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert files["prompt.txt"].read_bytes() == b"/exit\r\nall of it"
    assert launch.command[-1] == str(files["prompt.txt"])
    assert files["start.py"].read_text() == Path(openhands_inside.__file__).read_text()


def test_what_it_says_and_does_is_shown_and_nothing_else() -> None:
    shown = [OpenHands().trace(line.decode()) for line in lines("openhands.jsonl")]
    assert [line[:40] for line in shown if line] == [
        "answer: Step 0 of main.",
        "  terminal sed -n '1,$p' -- calc.py",
        "answer: Step 1 of main.",
        "  terminal python3 -c 'import fcntl, sys",
        "answer: Step 2 of main.",
        "  terminal cat calc.py | wc -l",
        "answer: Step 3 of main.",
    ]
    (refused,) = (OpenHands().trace(line.decode()) for line in case(CASES, "failure-events"))
    assert refused == "error: litellm.BadRequestError: OpenAIException - scripted error 400"


@dataclass
class Answer:
    """What a library gives back."""

    told: dict[str, Any]

    def model_dump(self) -> dict[str, Any]:
        return self.told


class Library:
    """A library for model APIs."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, object]] = []

    def completion(self, **named: object) -> object:
        self.asked.append(named)
        found = self.answers.pop(0)
        if isinstance(found, BaseException):
            raise found
        return found


def test_each_request_is_logged_with_its_answer_or_failure_and_none_is_repeated_unseen(
    tmp_path: Path,
) -> None:
    library: Any = Library(Answer({"id": "a", "model": "m", "usage": USAGE}), KeyError("x" * 5000))
    openhands_inside.Log(tmp_path / "log").over(library)
    assert isinstance(library.completion(model="m"), Answer)
    with pytest.raises(KeyError):
        library.completion(model="m", max_retries=2)
    written = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert written[:2] == [REQUEST, answer()]
    assert [line["event"] for line in written[2:]] == ["request", "failure"]
    assert len(written[3]["error"]) == openhands_inside.LONGEST_ERROR


def module(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> ModuleType:
    """A module of that name that can be imported until the test ends."""
    made = ModuleType(name)
    made.__dict__.update(members)
    monkeypatch.setitem(sys.modules, name, made)
    return made


def test_inside_it_obeys_no_settings_of_the_workspace_and_takes_the_prompt_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hooks:
        @classmethod
        def load(cls, working_dir: str) -> str:
            return f"hooks of {working_dir}"

    library: Any = Library(Answer({"id": "a", "model": "m", "usage": USAGE}))
    module(monkeypatch, "litellm", completion=library.completion)
    dotenv: Any = module(monkeypatch, "dotenv", load_dotenv=lambda **_: pytest.fail("it was read"))
    module(monkeypatch, "openhands")
    module(monkeypatch, "openhands.sdk")
    module(monkeypatch, "openhands.sdk.hooks", HookConfig=Hooks)
    for package in ("openhands.tools", "openhands.tools.terminal", "openhands.tools.terminal.terminal"):
        module(monkeypatch, package)
    terminals: list[Any] = [
        module(monkeypatch, name, _is_tmux_available=lambda: True)
        for name in ("openhands.tools.terminal.impl", "openhands.tools.terminal.terminal.factory")
    ]
    module(monkeypatch, "openhands_cli")
    module(monkeypatch, "openhands_cli.stores")
    store: Any = module(monkeypatch, "openhands_cli.stores.agent_store", AgentContext=dict)
    ran: list[object] = []

    def start() -> None:
        ran.append((sys.argv, entry.create_seeded_instructions_from_args(None)))

    entry: Any = module(monkeypatch, "openhands_cli.entrypoint", main=start)
    monkeypatch.setattr(sys, "argv", ["before"])
    (tmp_path / "site").mkdir()
    (tmp_path / "prompt.txt").write_text("/do\nit")
    openhands_inside.main([str(tmp_path / "site"), str(tmp_path / "log"), str(tmp_path / "prompt.txt")])
    options = [*openhands_inside.OPTIONS, "--file", str(tmp_path / "prompt.txt")]
    assert ran == [(["openhands", *options], ["/do\nit"])]
    loaded: object = Hooks.load("w")
    assert isinstance(loaded, Hooks)
    assert dotenv.load_dotenv(dotenv_path="x") is False
    assert [terminal._is_tmux_available() for terminal in terminals] == [False, False]
    made = store.AgentContext(skills=[1], load_public_skills=True)
    assert made == {"skills": [1], "load_public_skills": False, "load_user_skills": False}
    assert json.loads((tmp_path / "log").read_text()) == END
