"""Rules: the limits of size and place that a dataset sets for changes."""

from __future__ import annotations

from collections.abc import Iterator

from runner.datasets.changes import FileChange, changes_of
from runner.datasets.patterns import matches
from runner.datasets.schema import RulesEntry

MAX_NAMED = 5


def broken_rules(rules: RulesEntry, patch: bytes) -> tuple[str, ...]:
    """Which of ``rules`` the patch breaks, a sentence each; empty where it keeps them all."""
    return tuple(_broken(rules, changes_of(patch)))


def _broken(rules: RulesEntry, changes: tuple[FileChange, ...]) -> Iterator[str]:
    if rules.max_changed_files is not None and len(changes) > rules.max_changed_files:
        yield f"{len(changes)} files are changed, at most {rules.max_changed_files} may be"
    lines = sum(len(change.added) + len(change.removed) for change in changes)
    if rules.max_changed_lines is not None and lines > rules.max_changed_lines:
        yield f"{lines} lines are changed, at most {rules.max_changed_lines} may be"
    found = [path for change in changes for path in change.paths if matches(path, rules.forbidden_paths)]
    if found:
        more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
        yield f"files are changed that must not be: {', '.join(found[:MAX_NAMED])}{more}"
