"""The scripted model of the accounting runs: one task that edits, two that delegate, one that never ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

DATASET = "accounting"
MODEL = "ledger-1"
WINDOW = 400_000
EDIT = "edit"
FOREGROUND = "delegate-foreground"
BACKGROUND = "delegate-background"
ENDLESS = "endless"

Turn = dict[str, object]


def write_cassette(folder: Path) -> Path:
    """Write the cassette below ``folder``, which is returned."""
    header = {
        "kind": "cassette",
        "schema_version": 1,
        "dataset": DATASET,
        "model": MODEL,
        "context_window": WINDOW,
        "note": "Scripted turns with token counts of which no two sums are equal.",
    }
    path = folder / DATASET / f"{MODEL}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header, *_turns()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def _turns() -> Iterator[Turn]:
    read: Turn = {"do": "read", "path": "calc.py"}
    fix: Turn = {"do": "edit", "path": "calc.py", "old": "return a - b", "new": "return a + b"}
    check: Turn = {"do": "shell", "command": "cat calc.py | wc -l"}
    yield from _thread(EDIT, 0, [[read], [fix], [check], []])
    for task, background in ((FOREGROUND, False), (BACKGROUND, True)):
        prompt = "replay_thread: helper\nList the files and say their names."
        ask = {"do": "subagent", "thread": "helper", "prompt": prompt, "background": background}
        yield from _thread(task, 10, [[ask], [{"do": "wait"}], []])
        yield from _thread(task, 20, [[{"do": "shell", "command": "ls"}], []], thread="helper")
    yield from _thread(ENDLESS, 30, [[{"do": "shell", "command": "echo step {step}"}]], forever=True)


def _thread(
    task: str, first: int, turns: list[list[Turn]], *, thread: str = "main", forever: bool = False
) -> Iterator[Turn]:
    for step, actions in enumerate(turns):
        yield {
            "task": task,
            "thread": thread,
            "step": step,
            "say": f"Step {step} of {thread}.",
            "actions": actions,
            "forever": forever,
            "usage": usage(first + step),
        }


def usage(number: int) -> Mapping[str, int]:
    """Counts from powers of two in each class, so that a sum names the answers that are in it."""
    power = 1 << (number % 10)
    return {
        "uncached": 1000 + power + number,
        "cache_read": 4000 + 2 * power + number,
        "cache_write": 300 + 3 * power,
        "output": 100 + 5 * power,
        "reasoning": 5 + power,
    }
