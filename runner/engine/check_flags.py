"""Check flags: the flags of ``invoke check`` and ``invoke integrity``, and what each means for its help."""

from __future__ import annotations

from typing import Any

CHOICE_HELP = {
    "path": "a store, or a folder in it such as results/swe/<model>_<provider> (default: every store)",
    "cell": "only trials whose path holds one of these words or fits one of these patterns, with commas",
    "dry-run": "say what would be done, and stop",
}
CHECK_HELP = {
    **CHOICE_HELP,
    "only-missing": "only trials that lack a check of their task, or have one at which our side failed",
    "changed-tasks": "also trials whose task has changed since they ran, as when a check was put right",
    "isolation": "none, sandbox or container (default: the strongest that works)",
    "concurrency": "trials at a time (default: 1)",
}
INTEGRITY_HELP = {
    **CHOICE_HELP,
    "only-missing": "only trials that were not scanned by the rules as they are now",
}


def check_form(
    _context: object,
    path: str | None = None,
    cell: str = "",
    only_missing: bool = False,
    changed_tasks: bool = False,
    isolation: str | None = None,
    concurrency: int = 1,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Every flag of ``invoke check`` with its default, by name."""
    return dict(locals())


def integrity_form(
    _context: object,
    path: str | None = None,
    cell: str = "",
    only_missing: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Every flag of ``invoke integrity`` with its default, by name."""
    return dict(locals())


def stored_call(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of either command that the flags ``given`` stand for."""
    call = {name: value for name, value in given.items() if name != "_context"}
    return {**call, "cell": [word for word in call["cell"].split(",") if word]}
