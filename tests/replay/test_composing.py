"""Cassettes are composed from scripts: the shipped ones are up to date, and their counts hang together."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.replay.cassette import Scene, load_cassette, parse_cassette
from runner.replay.composing import (
    CACHE_BLOCK,
    FIRST_PROMPT_TOKENS,
    ScriptTurn,
    compose,
    compose_all,
    count_tokens,
)
from runner.replay.turns import Tokens, Write

SHIPPED = Path(__file__).parents[2] / "datasets" / "cassettes"
SCRIPTS = sorted(SHIPPED.glob("*/*.yaml"))

SCRIPT = """\
dataset: demo
model: m
context_window: 4096
note: scripted for a test
caches_prompts: true
tasks:
  t:
    - {say: look, thinking: 30, actions: [{do: list}, {do: read, path: a.py}]}
    - {say: done}
top_ups:
  t:
    - say: nothing left
"""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_shipped_cassette_is_what_its_script_says(script: Path) -> None:
    assert script.with_suffix(".jsonl").read_text(encoding="utf-8") == compose(script)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_shipped_cassette_says_that_it_is_scripted(script: Path) -> None:
    header = load_cassette(script.with_suffix(".jsonl")).header
    assert "Scripted" in header.note
    assert "No language model" in header.note


def test_every_shipped_cassette_has_a_script() -> None:
    assert SCRIPTS
    assert {path.with_suffix(".yaml") for path in SHIPPED.glob("*/*.jsonl")} == set(SCRIPTS)


def test_a_script_becomes_a_cassette(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    script = tmp_path / "demo" / "m.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    assert compose_all(tmp_path) == [script.with_suffix(".jsonl")]
    assert compose_all(tmp_path) == []
    cassette, faults = parse_cassette(script.with_suffix(".jsonl").read_text(encoding="utf-8"))
    assert faults == []
    assert cassette is not None
    assert {key: len(turns) for key, turns in cassette.turns.items()} == {
        Scene("t", "first"): 2,
        Scene("t", "top-up"): 1,
    }


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("do: list", "do: dance", "tasks.t.0.actions.0"),
        ("thinking: 30", "thinking: -1", "tasks.t.0.thinking"),
        ("model: m", "modell: m", "modell"),
        ("model: m", "model: [", "cannot be read"),
        ("model: m", "model: 2026-01-01", "cannot be read"),
    ],
)
def test_a_fault_in_a_script_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    script = tmp_path / "m.yaml"
    script.write_text(SCRIPT.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words):
        compose(script)


TURNS = st.lists(
    st.builds(
        lambda say, thinking, reads: ScriptTurn.model_validate_json(
            ScriptTurn(say=say, thinking=thinking).model_dump_json(exclude={"actions"})[:-1]
            + ', "actions": ['
            + ", ".join(['{"do": "list"}'] * reads)
            + "]}"
        ),
        st.text(max_size=50),
        st.integers(0, 500),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=6,
).map(tuple)


@given(turns=TURNS, caches=st.booleans())
def test_counts_hang_together(turns: tuple[ScriptTurn, ...], caches: bool) -> None:
    counted = count_tokens(turns, caches_prompts=caches)
    assert counted[0].prompt == FIRST_PROMPT_TOKENS
    for before, after in itertools.pairwise(counted):
        assert after.prompt >= before.prompt + before.output - before.reasoning
        assert after.cache_read == (before.cache_read + before.cache_write if caches else 0)
    for tokens, turn in zip(counted, turns, strict=True):
        assert tokens.reasoning == turn.thinking
        assert (tokens.cache_read + tokens.cache_write) % CACHE_BLOCK == 0


MORE = (
    SCRIPT
    + """\
threads:
  t:
    helper:
      - {say: looked, usage: {uncached: 5, output: 2}}
skills:
  swe3:
    tasks:
      t:
        - say: note
          actions: [{do: write, path: n.md, content_from: documents/n.md}]
        - say_json: {score: 4}
  endless:
    tasks:
      t:
        - {say: again, forever: true, actions: [{do: shell, command: "echo {step}"}]}
"""
)


def written(folder: Path, text: str) -> Path:
    (folder / "documents").mkdir()
    (folder / "documents" / "n.md").write_text("# Note\n", encoding="utf-8")
    script = folder / "m.yaml"
    script.write_text(text, encoding="utf-8")
    return script


def test_a_script_may_hold_threads_skills_texts_from_files_and_json(tmp_path: Path) -> None:
    cassette, faults = parse_cassette(compose(written(tmp_path, MORE)))
    assert faults == []
    assert cassette is not None
    note, last = cassette.turns[Scene("t", skill="swe3")]
    assert isinstance(note.actions[0], Write)
    assert (note.actions[0].content, last.say) == ("# Note\n", '{"score": 4}')
    assert cassette.turns[Scene("t", thread="helper")][0].usage == Tokens(uncached=5, output=2)
    assert cassette.turns[Scene("t", skill="endless")][0].forever
    assert not cassette.turns[Scene("t")][0].forever


@pytest.mark.parametrize("name", ["../../etc/hostname", "documents/missing.md", "/etc/hostname"])
def test_a_text_from_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        compose(written(tmp_path, MORE.replace("documents/n.md", name)))
