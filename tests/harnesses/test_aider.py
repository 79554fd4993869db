"""aider: what it is started with, what is done to it inside, and the log of its answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses import aider_inside
from runner.harnesses.aider import Aider, files_to_show
from runner.harnesses.aider_log import read_log
from runner.harnesses.base import Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from runner.records import Limits
from tests.harnesses.fakes import pretend_installed
from tests.harnesses.samples import SAMPLES, assignment, classes

CHAT, MESSAGES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 9,
    "prompt_tokens_details": {"cached_tokens": 600},
    "cache_creation_input_tokens": 300,
    "completion_tokens_details": {"reasoning_tokens": 4},
}
REQUEST, END = {"event": "request"}, {"event": "end"}


def answer(usage: object = USAGE, reason: str = "stop") -> dict[str, object]:
    return {"event": "answer", "model": "m", "finish_reason": reason, "usage": usage}


def failure(error: str = "BadRequestError: scripted error 400") -> dict[str, object]:
    return {"event": "failure", "error": error}


def read(folder: Path, *events: Mapping[str, object]) -> Reading:
    (folder / "log").write_text("".join(json.dumps(event) + "\n" for event in events))
    return read_log(folder / "log")


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


def launched(
    folder: Path, protocol: WireProtocol, limits: Limits | None = None, prompt: str = "Do it."
) -> tuple[Launch, dict[str, Path]]:
    """The start of a run and its files by name."""
    pretend_installed(harness("aider"), folder / "installed")
    launch = Aider().launch(replace(assignment(folder, protocol, limits=limits), prompt=prompt))
    return launch, {path.name: path for path in launch.configuration}


def test_a_run_is_the_sum_of_its_answers_exact_and_in_classes(tmp_path: Path) -> None:
    given = assignment(tmp_path, CHAT)
    Aider.log(given).parent.mkdir()
    Aider.log(given).write_bytes((SAMPLES / "aider.jsonl").read_bytes())
    reading = Aider().read(tmp_path / "no-stdout", given)
    assert classes(reading.usage) == (5266, 16036, 0, 475, 35)
    assert (reading.turns, reading.stop_reason, reading.is_error) == (1, "stop", False)
    assert reading.usage is not None
    assert reading.usage_by_model == {"ledger-1": reading.usage}
    assert reading.retries is None
    assert reading.warnings == ()


def test_cached_input_is_told_apart(tmp_path: Path) -> None:
    reading = read(tmp_path, REQUEST, answer(), REQUEST, answer(), END)
    assert classes(reading.usage) == (200, 1200, 600, 18, 8)
    assert reading.turns == 2


def test_reasoning_that_the_library_does_not_pass_on_is_unknown_and_said_so(tmp_path: Path) -> None:
    given = assignment(tmp_path, MESSAGES)
    Aider.log(given).parent.mkdir()
    Aider.log(given).write_bytes((SAMPLES / "aider.jsonl").read_bytes())
    reading = Aider().read(tmp_path / "no-stdout", given)
    assert classes(reading.usage) == (5266, 16036, 0, 475, None)
    assert codes(reading) == {"reasoning-not-reported"}


def test_a_refused_request_is_an_error_although_the_exit_code_is_zero(tmp_path: Path) -> None:
    reading = read(tmp_path, REQUEST, failure(), END)
    assert (reading.is_error, reading.stop_reason, reading.turns) == (True, "error", 0)
    assert "scripted error 400" in (reading.error or "")
    assert classes(reading.usage) == (0, 0, 0, 0, 0)


def test_a_failure_that_was_recovered_leaves_the_run_and_its_sums_intact(tmp_path: Path) -> None:
    reading = read(tmp_path, REQUEST, failure("RateLimitError: slow down"), REQUEST, answer(), END)
    assert (reading.is_error, reading.turns, codes(reading)) == (False, 1, set())


def test_an_answer_that_broke_off_marks_a_lower_bound(tmp_path: Path) -> None:
    reading = read(tmp_path, REQUEST, failure("APIConnectionError: closed"), REQUEST, answer(), END)
    assert codes(reading) == {"usage-is-lower-bound"}
    assert classes(reading.usage) == (100, 600, 300, 9, 4)


def test_a_summary_that_fails_beside_the_work_or_after_it_is_no_failure_of_the_run(tmp_path: Path) -> None:
    beside: dict[str, object] = {"beside": True}
    late = failure("RuntimeError: cannot schedule new futures after shutdown")
    reading = read(tmp_path, REQUEST, answer(), {**REQUEST, **beside}, END, {**late, **beside})
    assert (reading.is_error, reading.stop_reason, codes(reading)) == (False, "stop", set())
    summed = read(
        tmp_path, REQUEST, {**REQUEST, **beside}, {**answer(reason="length"), **beside}, answer(), END
    )
    assert (summed.is_error, summed.turns, codes(summed)) == (False, 2, set())


def test_a_call_from_another_thread_is_marked(tmp_path: Path) -> None:
    thread = threading.Thread(target=aider_inside.write, args=(tmp_path / "log", {"event": "request"}))
    thread.start()
    thread.join()
    assert json.loads((tmp_path / "log").read_text()) == {"event": "request", "beside": True}


def test_a_stopped_run_yields_what_it_had_and_may_have_used_more(tmp_path: Path) -> None:
    reading = read(tmp_path, REQUEST, answer(), REQUEST)
    assert (reading.is_error, reading.stop_reason) == (True, "no-end")
    assert classes(reading.usage) == (100, 600, 300, 9, 4)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_a_run_that_was_stopped_at_its_first_request_used_what_nobody_knows(tmp_path: Path) -> None:
    reading = read(tmp_path, REQUEST)
    assert (reading.usage, reading.turns) == (None, 0)
    assert codes(reading) == {"usage-is-lower-bound"}


def test_an_end_without_any_request_is_no_success(tmp_path: Path) -> None:
    reading = read(tmp_path, END)
    assert (reading.is_error, reading.error) == (True, "the agent ended without a request")


def test_an_answer_cut_at_its_length_is_no_success(tmp_path: Path) -> None:
    reading = read(tmp_path, REQUEST, answer(reason="length"), END)
    assert (reading.is_error, reading.stop_reason) == (True, "length")


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}])
def test_an_answer_without_counts_makes_the_sums_unknown(tmp_path: Path, usage: object) -> None:
    reading = read(tmp_path, REQUEST, answer(), REQUEST, answer(usage), END)
    assert (reading.usage, reading.usage_by_model, reading.turns) == (None, {}, 2)
    assert codes(reading) == {"usage-not-reported"}


@given(events=st.lists(st.sampled_from([REQUEST, answer(), failure(), END, {"event": 7}, {}]), max_size=8))
def test_no_order_of_events_is_read_as_more_than_was_answered(
    events: list[Mapping[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    reading = read(tmp_path_factory.getbasetemp(), *events)
    answered = sum(event.get("event") == "answer" for event in events)
    assert (reading.turns or 0) == answered
    assert (classes(reading.usage) or (0,))[0] in {None, 100 * answered}


@pytest.mark.parametrize(("protocol", "vendor"), [(CHAT, "openai"), (MESSAGES, "anthropic")])
def test_each_protocol_has_its_client(tmp_path: Path, protocol: WireProtocol, vendor: str) -> None:
    launch, files = launched(tmp_path, protocol, Limits(max_output_tokens=500))
    model = f"{vendor}/vendor/model:1"
    assert launch.environment[f"{vendor.upper()}_API_BASE"] == "http://127.0.0.1:9/v1"
    assert launch.environment["LITELLM_MODE"] == "PRODUCTION"
    assert launch.command.count(model) == 3
    told = json.loads(files["metadata.json"].read_text())[model]
    assert (told["max_input_tokens"], told["max_output_tokens"]) == (99_500, 500)
    (settings,) = yaml.safe_load(files["settings.yml"].read_text())
    assert settings["extra_params"] == {"max_tokens": 500}
    assert settings["use_repo_map"] is True


@pytest.mark.parametrize("option", ["--no-stream", "--yes-always", "--no-auto-commits", "--no-detect-urls"])
def test_it_asks_nobody_and_leaves_git_and_the_network_alone(tmp_path: Path, option: str) -> None:
    launch, _ = launched(tmp_path, CHAT)
    assert option in launch.command


@pytest.mark.parametrize(
    ("prompt", "message"), [("/run x", "\n/run x"), ("!ls", "\n!ls"), ("a\r\nb", "a\r\nb")]
)
def test_a_prompt_is_never_a_command_of_its_own(tmp_path: Path, prompt: str, message: str) -> None:
    _, files = launched(tmp_path, CHAT, prompt=prompt)
    assert files["prompt.txt"].read_bytes().decode() == message


def test_files_are_named_only_where_there_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    assert files_to_show(tmp_path) == ("--no-git", "--", str(tmp_path / "a.py"))
    (tmp_path / ".git").mkdir()
    assert files_to_show(tmp_path) == ()


def test_what_it_says_of_edits_and_failures_is_shown_and_nothing_else() -> None:
    assert Aider().trace("Applied edit to calc.py\n") == "Applied edit to calc.py"
    assert Aider().trace("litellm.BadRequestError: no") == "litellm.BadRequestError: no"
    assert Aider().trace("Some prose.") is None


@dataclass
class Answer:
    """What a library gives back."""

    told: dict[str, Any]

    def model_dump(self) -> dict[str, Any]:
        return self.told


def log_of(folder: Path, complete: Callable[..., Any]) -> tuple[object, list[dict[str, Any]]]:
    """What a call through the log gives back or raises, and the lines it left."""
    log = folder / "log"
    try:
        given: object = aider_inside.logged(complete, log)(model="m", messages=[])
    except KeyError as error:
        given = error
    return given, [json.loads(line) for line in log.read_text().splitlines()]


def test_each_call_is_logged_before_and_after_and_its_answer_handed_on(tmp_path: Path) -> None:
    told = {"model": "m", "choices": [{"finish_reason": "stop"}], "usage": USAGE}
    given, lines = log_of(tmp_path, lambda **_: Answer(told))
    assert isinstance(given, Answer)
    assert lines == [REQUEST, answer()]


def test_a_failing_call_is_logged_and_fails_all_the_same(tmp_path: Path) -> None:
    def complete(**named: object) -> object:
        raise KeyError("x" * 5000)

    given, lines = log_of(tmp_path, complete)
    assert isinstance(given, KeyError)
    assert lines[1]["event"] == "failure"
    assert len(lines[1]["error"]) == aider_inside.LONGEST_ERROR


def test_an_answer_without_choices_or_usage_is_logged_as_such(tmp_path: Path) -> None:
    _, lines = log_of(tmp_path, lambda **_: Answer({}))
    assert lines[1] == {"event": "answer", "finish_reason": None, "model": None, "usage": None}


def test_files_outside_the_repository_need_no_git_and_others_are_asked_for(tmp_path: Path) -> None:
    @dataclass
    class Repository:
        root: str

    asked: list[object] = []

    def inside(_repository: object, path: object) -> bool:
        asked.append(path)
        return False

    in_repo = aider_inside.or_outside(inside)
    repository = Repository(str(tmp_path))
    assert in_repo(repository, "/elsewhere/n.md")
    assert in_repo(repository, "../n.md")
    assert not in_repo(repository, "src/a.py")
    assert not in_repo(repository, str(tmp_path / "a.py"))
    assert asked == ["src/a.py", str(tmp_path / "a.py")]
