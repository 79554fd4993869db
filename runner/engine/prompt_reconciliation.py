"""Prompt reconciliation: the prompt tokens that the server counted beside those that the agent reported."""

from __future__ import annotations

from dataclasses import dataclass

from runner.records import CacheSemantics, DataWarning, ServerWindow, Usage

TOLERANCE = 0.05
"""Share of the server's count that the agent may leave out: retries and warm-up calls are not reported."""
UNACCOUNTED = "prompt-tokens-unaccounted"


@dataclass(frozen=True)
class PromptReconciliation:
    """Both counts of one invocation."""

    server: int
    agent: int

    @property
    def unaccounted(self) -> int:
        """Prompt tokens that the server saw and the agent did not report; never below 0."""
        return max(self.server - self.agent, 0)

    @property
    def reconciled(self) -> bool:
        """Whether what is unaccounted for is at most 5 % of what the server counted."""
        return self.unaccounted <= TOLERANCE * self.server


def reconcile(window: ServerWindow | None, usage: Usage | None) -> PromptReconciliation | None:
    """Set the server's prompt tokens beside the agent's: input, cache read and cache write together.

    None where either side is unknown, or where anybody else may have used the server meanwhile.
    """
    if window is None or window.shared or window.prompt_tokens is None:
        return None
    agent = prompt_tokens(usage)
    return None if agent is None else PromptReconciliation(window.prompt_tokens, agent)


def prompt_tokens(usage: Usage | None) -> int | None:
    """All prompt tokens of ``usage``, each counted once; None where one that is needed is unknown."""
    if usage is None or usage.cache_semantics is CacheSemantics.UNKNOWN:
        return None
    parts = [usage.input_tokens]
    if usage.cache_semantics is CacheSemantics.DISJOINT:
        parts += [usage.cache_read_tokens, usage.cache_write_tokens]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def prompt_warning(window: ServerWindow | None, usage: Usage | None) -> DataWarning | None:
    """What a reader must know where the agent left out more than 5 % of the prompt tokens."""
    found = reconcile(window, usage)
    if found is None or found.reconciled:
        return None
    return DataWarning(
        code=UNACCOUNTED,
        text=f"The server counted {found.server:,} prompt tokens, the agent reported {found.agent:,}: "
        f"{found.unaccounted:,} ({found.unaccounted / found.server:.1%}) are not accounted for.",
    )
