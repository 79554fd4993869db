"""Output of any shape: no reader raises, and no count is negative or made of something that is no number."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.harnesses.claude_stream import read_run as read_claude
from runner.harnesses.claude_transcript import read_transcripts
from runner.harnesses.codex_stream import read_run as read_codex
from runner.harnesses.mini_trajectory import read_trajectory
from runner.harnesses.pi_stream import read_stream as read_pi
from runner.harnesses.stream import MAX_LINE_BYTES, count, objects
from tests.harnesses.samples import classes, lines

WORDS = (
    "type", "subtype", "message", "usage", "modelUsage", "model", "id", "role", "item", "error", "result",
    "num_turns", "is_error", "terminal_reason", "stopReason", "payload", "input", "output", "cacheRead",
    "input_tokens", "output_tokens", "cached_input_tokens", "inputTokens", "outputTokens", "content",
    "permission_denials", "total_cost_usd", "thread_id", "requestRef", "stop_reason",
)  # fmt: skip
KINDS = (
    "assistant", "result", "system", "init", "api_retry", "message_end", "message_start", "agent_settled",
    "turn.completed", "turn.failed", "item.completed", "error", "token_usage_record", "session_meta", "m", "",
)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(KINDS) | st.text(max_size=4)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
EVENTS = st.lists(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=6), max_size=5)


@given(events=EVENTS)
def test_no_event_of_any_shape_brings_a_reader_down(
    events: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-shape-folder"
    for place in ("projects/p/s.jsonl", "sessions/1/rollout-1.jsonl", "stdout"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    read_transcripts(folder)
    for reading in (
        read_claude(folder / "stdout", folder),
        read_codex(folder / "stdout", folder, "m"),
        read_pi(folder / "stdout"),
    ):
        assert all(each is None or each >= 0 for each in classes(reading.usage) or ())
        assert reading.turns is None or reading.turns >= 0
        assert reading.stop_reason
        assert reading.error is None or len(reading.error) <= 1000


@pytest.mark.parametrize("value", [True, -1, 1.0, "5", None, [], {}, float("nan")])
def test_only_whole_numbers_from_zero_up_are_counts(value: object) -> None:
    assert count(value) is None


def test_a_line_that_never_ends_is_passed_over_whole(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    inside = b'{"type": "result", "usage": {}}'
    long_line = b'{"pad": "' + b"x" * (MAX_LINE_BYTES - 9) + inside + b'"}\n'
    path.write_bytes(b'{"a": 1}\n' + long_line + b'{"b": 2}\n' + b'{"c": 3}')
    assert [dict(event) for event in objects(path)] == [{"a": 1}, {"b": 2}, {"c": 3}]


@pytest.mark.parametrize("kind", ["pipe", "device", "link", "folder"])
def test_what_an_agent_put_in_the_place_of_its_transcript_is_not_waited_for(
    kind: str, tmp_path: Path
) -> None:
    path, other = tmp_path / "transcript", tmp_path / "other.jsonl"
    other.write_bytes(b'{"messages": [{"role": "user"}]}\n')
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(other if kind == "link" else "/dev/zero")
    assert list(objects(path)) == []
    assert read_trajectory(path).error == "the agent left no trajectory"


@pytest.mark.parametrize(
    "noise", [b"\xff\xfe\n", b"\x1b[31mred\n", b"[1]\n", b"{" * 99_999 + b"\n", b"\n", b"\0"]
)
def test_noise_between_the_lines_changes_no_number(noise: bytes, tmp_path: Path) -> None:
    def noisy(sample: str) -> Path:
        path = tmp_path / sample
        path.write_bytes(noise + b"\n" + b"".join(line + noise + b"\n" for line in lines(sample)))
        return path

    assert classes(read_claude(noisy("claude.jsonl"), tmp_path).usage) == (4006, 12000, 1200, 166, None)
    assert classes(read_codex(noisy("codex.jsonl"), tmp_path, "m").usage) == (5206, 12000, 0, 166, 20)
    assert classes(read_pi(noisy("pi.jsonl")).usage) == (5206, 12000, 0, 166, 20)
