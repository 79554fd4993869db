"""Composing: writes cassettes from scripts, with token counts computed from text lengths.

A script is a YAML file beside the cassette: dataset, model, context_window, note, caches_prompts, and for
each task its turns as ``say``, ``thinking`` (reasoning tokens) and ``actions``. ``threads`` holds the turns
of subagents, ``skills`` those for one skill only. A ``write`` may take its text from a file below the
script's folder, named by ``content_from``; a ``say_json`` is said as JSON text. Write all of them with
``python -m runner.replay.composing datasets/cassettes``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from runner.errors import ConfigurationError
from runner.records import Part
from runner.records.plain_words import plain_faults
from runner.replay.turns import Action, Tokens, Turn

FIRST_PROMPT_TOKENS = 1_750
CHARACTERS_PER_TOKEN = 3.6
CALL_TOKENS = 18
CACHE_BLOCK = 64
RESULT_TOKENS = {
    "list": 90,
    "read": 560,
    "search": 140,
    "edit": 14,
    "write": 18,
    "shell": 120,
    "call": 40,
    "sleep": 10,
    "subagent": 300,
    "wait": 60,
}
"""Roughly what the result of an action adds to the prompt of the next turn."""


class ScriptTurn(Part):
    """One turn as an author writes it. Token counts are computed where ``usage`` is left out."""

    say: str
    thinking: int = Field(default=0, ge=0)
    actions: tuple[Action, ...] = ()
    forever: bool = False
    usage: Tokens | None = None


class Case(Part):
    """Turns for prompts that hold a text."""

    when: str
    turns: tuple[ScriptTurn, ...]


class Scenes(Part):
    """Turns by task. ``top_ups`` answer completion passes; ``threads`` hold subagents, by task and name.

    ``cases`` answer prompts that hold a text, before the other turns of the task do.
    """

    tasks: dict[str, tuple[ScriptTurn, ...]] = Field(default_factory=dict)
    top_ups: dict[str, tuple[ScriptTurn, ...]] = Field(default_factory=dict)
    threads: dict[str, dict[str, tuple[ScriptTurn, ...]]] = Field(default_factory=dict)
    cases: dict[str, tuple[Case, ...]] = Field(default_factory=dict)

    def each(self) -> Iterator[tuple[dict[str, str], tuple[ScriptTurn, ...]]]:
        """What turns are for, as fields of a turn, and the turns."""
        for invocation, tasks in (("first", self.tasks), ("top-up", self.top_ups)):
            for task, turns in tasks.items():
                yield {"task": task, "invocation": invocation}, turns
        for task, threads in self.threads.items():
            for thread, turns in threads.items():
                yield {"task": task, "invocation": "first", "thread": thread}, turns
        for task, cases in self.cases.items():
            for case in cases:
                yield {"task": task, "invocation": "first", "when": case.when}, case.turns


class Script(Scenes):
    """A scripted model for the tasks of a dataset."""

    dataset: str
    model: str
    context_window: int
    note: str
    caches_prompts: bool
    skills: dict[str, Scenes] = Field(default_factory=dict)


def compose(script: Path) -> str:
    """The cassette, as text, that ``script`` describes.

    Raises:
        ConfigurationError: the script has faults; all of them are listed.
    """
    try:
        document = _filled(yaml.safe_load(script.read_text(encoding="utf-8")), script.parent)
        parsed = Script.model_validate_json(json.dumps(document))
    except (OSError, ValueError, yaml.YAMLError, TypeError, RecursionError) as error:
        if isinstance(error, ValidationError):
            faults = plain_faults(error, whole="script")
            raise ConfigurationError(
                "the script has faults:\n    " + "\n    ".join(faults), where=str(script)
            ) from None
        raise ConfigurationError(f"the script cannot be read: {error}", where=str(script)) from None
    header = {
        "kind": "cassette",
        "schema_version": 1,
        "dataset": parsed.dataset,
        "model": parsed.model,
        "context_window": parsed.context_window,
        "note": parsed.note,
    }
    lines = [json.dumps(header, ensure_ascii=False)]
    for skill, scenes in ((None, parsed), *parsed.skills.items()):
        for fields, turns in scenes.each():
            lines += _recorded(fields | ({"skill": skill} if skill else {}), turns, parsed.caches_prompts)
    return "\n".join(lines) + "\n"


def _filled(document: object, folder: Path) -> object:
    """``document`` with the texts of named files in place of their names.

    Raises:
        OSError: a named file cannot be read.
        ValueError: it lies elsewhere, or is no text.
    """
    if isinstance(document, list):
        return [_filled(entry, folder) for entry in document]
    if not isinstance(document, dict):
        return document
    filled = {key: _filled(value, folder) for key, value in document.items()}
    if "content_from" in filled:
        path = (folder / str(filled.pop("content_from"))).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise ValueError(f"content_from leads out of the script's folder: {path.name}")
        filled["content"] = path.read_text(encoding="utf-8")
    if "say_json" in filled:
        filled["say"] = json.dumps(filled.pop("say_json"), ensure_ascii=False)
    return filled


def _recorded(fields: dict[str, str], turns: tuple[ScriptTurn, ...], caches_prompts: bool) -> Iterator[str]:
    """The lines of a cassette for the turns of one scene."""
    counted = count_tokens(turns, caches_prompts=caches_prompts)
    for step, (turn, usage) in enumerate(zip(turns, counted, strict=True)):
        more = {"forever": True} if turn.forever else {}
        recorded = Turn.model_validate(
            {**fields, "step": step, "say": turn.say, "actions": turn.actions, "usage": usage, **more}
        )
        usual = {name for name in ("thread", "forever") if name not in recorded.model_fields_set}
        yield recorded.model_dump_json(exclude_none=True, exclude=usual)


def count_tokens(turns: tuple[ScriptTurn, ...], *, caches_prompts: bool) -> list[Tokens]:
    """Plausible usage of each turn: the prompt grows by every answer and every result.

    With ``caches_prompts`` all of the previous prompt, in whole blocks, is read from the cache and the new
    blocks are written to it.
    """
    counted: list[Tokens] = []
    prompt, cached = FIRST_PROMPT_TOKENS, 0
    for turn in turns:
        arguments = sum(len(action.model_dump_json(exclude_none=True)) for action in turn.actions)
        said = round((len(turn.say) + arguments) / CHARACTERS_PER_TOKEN) + CALL_TOKENS * len(turn.actions)
        output = said + turn.thinking
        written = prompt // CACHE_BLOCK * CACHE_BLOCK - cached if caches_prompts else 0
        counted.append(
            turn.usage
            or Tokens(
                uncached=prompt - cached - written,
                cache_read=cached,
                cache_write=written,
                output=output,
                reasoning=turn.thinking,
            )
        )
        cached += written
        prompt += said + sum(RESULT_TOKENS[action.do] for action in turn.actions)
    return counted


def compose_all(folder: Path) -> list[Path]:
    """Write the cassette of every script below ``folder``; returns those that changed.

    Raises:
        ConfigurationError: a script has faults.
    """
    changed = []
    for script in sorted(folder.glob("*/*.yaml")):
        target, text = script.with_suffix(".jsonl"), compose(script)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
            changed.append(target)
    return changed


if __name__ == "__main__":
    compose_all(Path(sys.argv[1] if len(sys.argv) > 1 else "datasets/cassettes"))
