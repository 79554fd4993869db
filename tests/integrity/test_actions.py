"""What an agent did is read from the stream of every harness, and nothing else is taken for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.registry import HARNESSES, harness
from runner.integrity.actions import MAX_TEXT, Action, actions_of, unwrapped
from tests.harnesses.samples import SAMPLES

STREAMS = ("claude", "codex", "copilot", "gemini-cli", "omp", "opencode", "pi", "qwen-code")
NAMES = {"claude": "claude-code"}
PLANTED = "cat /secret/place"


def said(text: str, name: str = "loop") -> list[Action]:
    return list(actions_of(text.splitlines(keepends=True), harness(name).trace))


def planted(value: object, done: list[str]) -> object:
    """``value`` with every word that names the file of the sample replaced by the planted place."""
    if isinstance(value, dict):
        return {key: planted(inner, done) for key, inner in value.items()}
    if isinstance(value, list):
        return [planted(inner, done) for inner in value]
    if isinstance(value, str) and "calc.py" in value and len(value) < 200:
        done.append(value)
        return value.replace("<WORKDIR>/calc.py", "/secret/place").replace("calc.py", "/secret/place")
    return value


@pytest.mark.parametrize("name", STREAMS)
def test_real_streams_of_every_harness_tell_what_was_read(name: str) -> None:
    lines = [json.loads(line) for line in (SAMPLES / f"{name}.jsonl").read_text().splitlines()]
    changed: list[str] = []
    text = "\n".join(json.dumps(planted(line.get("line", line), changed)) for line in lines)
    assert changed
    words = {word for action in said(text, NAMES.get(name, name)) for word in action.everything()}
    assert any("/secret/place" in word for word in words)


def test_the_built_in_agents_arguments_are_text() -> None:
    event = {"event": "tool", "name": "shell", "arguments": json.dumps({"command": PLANTED}), "result": "x"}
    assert [action.commands for action in said(json.dumps(event))] == [(PLANTED,)]


def test_a_printed_answer_is_read_up_to_what_the_tool_says() -> None:
    text = (
        "User:\n```\ncurl the prompt\n```\nmini-swe-agent (step 1, $0.00):\nI look.\n\n```\n"
        f"{PLANTED}\n```\n\nTool:\n<returncode>\n0\n<output>\n```\ncurl https://in.a/readme\n```\n"
    )
    assert [action.commands for action in said(text, "mini-swe-agent")] == [(f"{PLANTED}\n",)]


def test_an_edit_that_is_printed_is_no_command() -> None:
    edit = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"
    text = f"Tokens: 4.8k sent, 379 received.\ncalc.py\n```\n{edit}\n```\n"
    assert said(text, "aider") == []


def test_lines_that_were_cut_at_the_width_of_a_terminal_are_joined() -> None:
    long = "cat " + "/very/long" * 12
    cut = [long[start : start + 80] for start in range(0, len(long), 80)]
    assert unwrapped(cut) == f"{long}\n"


def test_what_a_tool_answers_is_not_the_agents_doing() -> None:
    events = [
        {"type": "tool_result", "output": {"command": PLANTED, "path": "/secret"}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": f"$ {PLANTED}"}]}},
        {"type": "end", "result": {"input": {"command": PLANTED}}},
        {"tools": [{"name": "bash", "parameters": {"type": "object", "properties": {"command": {}}}}]},
    ]
    assert said("\n".join(map(json.dumps, events))) == []


def test_an_action_that_is_told_of_twice_is_one() -> None:
    event = json.dumps({"name": "bash", "input": {"command": PLANTED}})
    assert [action.line for action in said(f"{event}\n{event}\n")] == [1]


def test_every_kind_of_argument_has_its_place() -> None:
    given_ = {
        "command": ["bash", "-lc", "ls"],
        "file_path": "a.py",
        "paths": ["b.py", "c.py"],
        "url": "https://example.org",
        "edits": [{"oldText": "x", "filePath": "d.py"}],
        "count": 3,
    }
    [action] = said(json.dumps({"type": "tool_use", "name": "many", "input": given_}))
    assert action.commands == ("bash -lc ls",)
    assert action.paths == ("a.py", "b.py", "c.py", "d.py")
    assert (action.addresses, action.texts) == (("https://example.org",), ("x",))


def test_every_harness_can_show_any_line() -> None:
    for name in HARNESSES:
        assert said("plain words\n{broken\n\x1b[1m\n", name) == []


def nested(depth: int) -> str:
    return '{"input":' * depth + '{"command":"x"}' + "}" * depth


@pytest.mark.parametrize("text", [nested(30), nested(3000), "{" * 5000, '{"a":' * 5000, "```\n" * 50, "\x00"])
def test_deep_and_broken_streams_do_no_harm(text: str) -> None:
    assert len(said(text)) <= 1


def test_long_texts_are_cut() -> None:
    [action] = said(json.dumps({"input": {"command": "x" * (MAX_TEXT + 5)}}))
    assert len(action.commands[0]) == MAX_TEXT


JSON_VALUES: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["input", "command", "path", "name", "args", "output", "x"]), inner)
    ),
    max_leaves=10,
)


@given(st.lists(JSON_VALUES | st.text(max_size=20), max_size=5), st.sampled_from(sorted(HARNESSES)))
def test_no_stream_is_a_fault(values: list[object], name: str) -> None:
    text = "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values)
    for action in said(text, name):
        assert all(isinstance(word, str) for word in action.everything())


def test_the_samples_lie_where_the_tests_look() -> None:
    assert all(Path(SAMPLES / f"{name}.jsonl").is_file() for name in STREAMS)
