"""Registry of judges: one line per judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from runner.errors import ConfigurationError
from runner.judges.base import Judge
from runner.registry import load_by_name

JUDGES: Mapping[str, str] = {
    "claude-code": "runner.judges.claude_code:ClaudeCodeJudge",
    "codex": "runner.judges.codex:CodexJudge",
    "direct": "runner.judges.direct:Direct",
    "replay": "runner.judges.replay:ReplayJudge",
}
MEMBERS = ("name", "title", "method", "protocols", "demonstration", "version", "ask", "left_behind")


def judge(name: str) -> Judge:
    """The judge called ``name``, or the one an import path ``package.module:Name`` leads to.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: the import path leads nowhere, or to something that is no judge.
    """
    found = load_by_name("judge", name, JUDGES)
    made = found() if isinstance(found, type) else found
    missing = [member for member in MEMBERS if not hasattr(made, member)]
    if missing:
        raise ConfigurationError(f"{name!r} is no judge: it has no {', '.join(missing)}")
    return cast(Judge, made)
