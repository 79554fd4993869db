"""Agents that offer no tools get the changes of a whole scene as blocks of text to replace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from runner.replay import ReplayServer
from runner.replay.blocks import said_at_once, shown_content, wants_blocks
from runner.replay.conversation import Conversation, OfferedTool, talk_in
from runner.replay.turns import Turn
from tests.replay.tapes import tape, turn

FILE = "a.py\n```\ndef f():\n    return 1 - 2  # sum\n```\n"
PROMPT = "workspace: /w\nartifacts_dir: /a\nMend f."
RULES = "Use *SEARCH/REPLACE blocks*."
LOOK = turn(0, {"do": "read", "path": "a.py"}, say="I look.")
CHANGE = turn(1, {"do": "edit", "path": "a.py", "old": "1 - 2", "new": "1 + 2"}, say="I mend.")
NOTE = turn(2, {"do": "write", "path": "{artifacts}/n.md", "content": "done in {workspace}\n"}, say="A note.")
END = turn(3, say="Done.")


def talk(*shown: str, answers: int = 0, tools: tuple[OfferedTool, ...] = ()) -> Conversation:
    heard = "\n".join((RULES, *shown, PROMPT))
    return Conversation("m", False, True, tools, 0, PROMPT, heard=heard, answers=answers)


def turns(*lines: dict[str, object]) -> tuple[Turn, ...]:
    return tuple(Turn.model_validate_json(json.dumps(line)) for line in lines)


def blocks(said: str) -> list[tuple[str, str, str]]:
    """Path, old and new text of each block."""
    found = []
    for part in said.split("```\n<<<<<<< SEARCH\n")[1:]:
        old, _, rest = part.partition("=======\n")
        found.append((old, rest.partition(">>>>>>> REPLACE")[0]))
    paths = [part.rstrip("\n").rsplit("\n", 1)[-1] for part in said.split("```\n<<<<<<< SEARCH")[:-1]]
    return [(path, *each) for path, each in zip(paths, found, strict=True)]


def test_only_an_agent_without_tools_that_names_such_blocks_gets_them() -> None:
    assert wants_blocks(talk())
    assert not wants_blocks(talk(tools=(OfferedTool("bash", {}),)))
    assert not wants_blocks(Conversation("m", False, True, (), 0, PROMPT, heard=PROMPT))


def test_a_file_that_was_not_shown_is_asked_for_by_its_name() -> None:
    said = said_at_once(turns(LOOK, CHANGE, END), talk())
    assert "a.py" in said.say.splitlines()
    assert "I look." in said.say
    assert blocks(said.say) == []
    assert said.usage == turns(LOOK)[0].usage
    assert said.actions == ()


def test_all_changes_are_said_at_once_with_the_sum_of_the_tokens() -> None:
    said = said_at_once(turns(LOOK, CHANGE, NOTE, END), talk(FILE))
    changed = ("a.py", "    return 1 - 2  # sum\n", "    return 1 + 2  # sum\n")
    assert blocks(said.say) == [changed, ("{artifacts}/n.md", "", "done in {workspace}\n")]
    assert said.usage.output == 4 * END["usage"]["output"]  # type: ignore[index]
    assert said.say.startswith("I look.")
    assert said.say.endswith("Done.")


def test_after_the_files_were_asked_for_the_rest_is_said() -> None:
    said = said_at_once(turns(LOOK, CHANGE, END), talk(FILE, answers=1))
    assert "I look." not in said.say
    assert len(blocks(said.say)) == 1
    assert said.usage.output == 2 * END["usage"]["output"]  # type: ignore[index]


def test_a_part_of_a_line_becomes_the_whole_line_and_edits_follow_one_another() -> None:
    again = turn(2, {"do": "edit", "path": "a.py", "old": "+ 2  # sum", "new": "+ 2"})
    said = said_at_once(turns(CHANGE, again, END), talk(FILE))
    assert blocks(said.say)[1] == ("a.py", "    return 1 + 2  # sum\n", "    return 1 + 2\n")


def test_what_is_changed_already_is_not_said_again() -> None:
    mended = FILE.replace("1 - 2", "1 + 2")
    said = said_at_once(turns(LOOK, CHANGE, END), talk(FILE, mended, answers=1))
    assert blocks(said.say) == []
    assert "Done." in said.say


def test_an_edit_of_lines_that_span_the_end_of_the_file_keeps_it() -> None:
    change = turn(
        0, {"do": "edit", "path": "a.py", "old": "def f():\n    return", "new": "def g():\n    yield"}
    )
    said = said_at_once(turns(change, END), talk(FILE))
    old, new = blocks(said.say)[0][1:]
    assert old == "def f():\n    return 1 - 2  # sum\n"
    assert new == "def g():\n    yield 1 - 2  # sum\n"


def test_a_step_that_is_meant_to_fail_is_left_out() -> None:
    wrong = turn(0, {"do": "edit", "path": "a.py", "old": "x", "new": "y", "mistake": "no such text"})
    assert blocks(said_at_once(turns(wrong, END), talk(FILE)).say) == []


@pytest.mark.parametrize("fences", [("```", "```"), ("````", "````"), ("<source>", "</source>")])
def test_a_file_is_found_in_any_fence_and_the_last_one_counts(fences: tuple[str, str]) -> None:
    begin, end = fences
    heard = f"x\na.py\n{begin}\nold\n{end}\n\na.py\n{begin}\nnew\n{end}\nmore"
    assert shown_content("a.py", heard) == "new\n"
    assert shown_content("b.py", heard) is None


def test_a_made_up_talk_before_the_prompt_is_no_part_of_it() -> None:
    example = [("user", "Change the greeting."), ("assistant", "Ok.")]
    found = talk_in([("system", RULES), *example, ("user", PROMPT), ("assistant", "Yes."), ("user", "More.")])
    assert (found.prompt, found.answers) == (PROMPT, 1)
    assert "More." in found.heard
    assert "Yes." not in found.heard


def test_an_ordinary_talk_begins_with_its_first_words() -> None:
    found = talk_in([("user", "Context."), ("user", PROMPT), ("assistant", "Yes.")])
    assert (found.prompt, found.answers) == (f"Context.\n{PROMPT}", 1)
    assert talk_in([]).prompt == ""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReplayServer]:
    with ReplayServer(tape(tmp_path, (LOOK, CHANGE, NOTE, END))) as running:
        yield running


@pytest.mark.parametrize("protocol", ["chat", "messages"])
def test_the_server_answers_with_blocks_and_fills_in_the_folders(server: ReplayServer, protocol: str) -> None:
    base = server.url_for(run="r", scenario="demo/t")
    messages = [{"role": "user", "content": f"{FILE}\n{PROMPT}"}]
    if protocol == "chat":
        messages.insert(0, {"role": "system", "content": RULES})
        answer = httpx.post(f"{base}/v1/chat/completions", json={"model": "m", "messages": messages}).json()
        said = answer["choices"][0]["message"]["content"]
    else:
        body = {"model": "m", "max_tokens": 9, "system": RULES, "messages": messages}
        said = httpx.post(f"{base}/v1/messages", json=body).json()["content"][0]["text"]
    assert [path for path, *_ in blocks(said)] == ["a.py", "/a/n.md"]
    assert "done in /w\n" in said
    assert server.count("r").told.output == 4 * 41
