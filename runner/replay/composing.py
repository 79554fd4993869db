"""Composing: writes cassettes from scripts, with token counts computed from text lengths.

A script is a YAML file beside the cassette: dataset, model, context_window, note, caches_prompts, and for
each task its turns as ``say``, ``thinking`` (reasoning tokens) and ``actions``. Write all of them with
``python -m runner.replay.composing datasets/cassettes``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from runner.errors import ConfigurationError
from runner.records import Part
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
    """One turn as an author writes it."""

    say: str
    thinking: int = Field(default=0, ge=0)
    actions: tuple[Action, ...] = ()


class Script(Part):
    """A scripted model for the tasks of a dataset. ``top_ups`` answer completion passes."""

    dataset: str
    model: str
    context_window: int
    note: str
    caches_prompts: bool
    tasks: dict[str, tuple[ScriptTurn, ...]]
    top_ups: dict[str, tuple[ScriptTurn, ...]] = Field(default_factory=dict)


def compose(script: Path) -> str:
    """The cassette, as text, that ``script`` describes.

    Raises:
        ConfigurationError: the script has faults; all of them are listed.
    """
    try:
        document = yaml.safe_load(script.read_text(encoding="utf-8"))
        parsed = Script.model_validate_json(json.dumps(document))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError) as error:
        raise ConfigurationError(f"the script cannot be read: {error}", where=str(script)) from None
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise ConfigurationError(
            "the script has faults:\n    " + "\n    ".join(faults), where=str(script)
        ) from None
    header = {
        "kind": "cassette",
        "schema_version": 1,
        "dataset": parsed.dataset,
        "model": parsed.model,
        "context_window": parsed.context_window,
        "note": parsed.note,
    }
    lines = [json.dumps(header, ensure_ascii=False)]
    for invocation, tasks in (("first", parsed.tasks), ("top-up", parsed.top_ups)):
        for task, turns in tasks.items():
            counted = count_tokens(turns, caches_prompts=parsed.caches_prompts)
            for step, (turn, usage) in enumerate(zip(turns, counted, strict=True)):
                recorded = Turn.model_validate(
                    {
                        "task": task,
                        "invocation": invocation,
                        "step": step,
                        "say": turn.say,
                        "actions": turn.actions,
                        "usage": usage,
                    }
                )
                usual = {name for name in ("thread", "forever") if name not in recorded.model_fields_set}
                lines.append(recorded.model_dump_json(exclude_none=True, exclude=usual))
    return "\n".join(lines) + "\n"


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
            Tokens(
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
