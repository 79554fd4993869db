"""Every command that a message of the project names exists, wherever in the code the message stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tasks
from tests.engine.preflight.fixes import faults_of

ROOT = Path(tasks.__file__).parent


def texts(path: Path) -> Iterator[str]:
    """String constants of a file that are no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


def test_every_task_that_a_message_names_exists() -> None:
    named = {
        (match, path.name)
        for path in sorted((ROOT / "runner").rglob("*.py"))
        for text in texts(path)
        for match in re.findall(r"(?:^|[^`\w])invoke ([a-z][a-z-]+)", text)
    }
    assert {name for name, _ in named} >= {"harness-install", "preflight", "verify", "run"}
    assert sorted(each for each in named if each[0] not in tasks.namespace.task_names) == []


@pytest.mark.parametrize(
    ("fix", "faults"),
    [
        ("invoke harness-install codex", []),
        ("invoke run --resume run-1", []),
        ("--model x", []),
        ("apt-get install --yes bubblewrap", []),
        ("give --price-input and --price-output; or bound it with --budget-tokens", []),
        ("invoke harnes-install codex", ["there is no task harnes-install"]),
        ("invoke verify --resume x", ["verify has no --resume"]),
        ("--modle x", ["run has no --modle"]),
    ],
)
def test_the_check_itself_finds_what_does_not_exist(fix: str, faults: list[str]) -> None:
    assert faults_of(fix) == faults
