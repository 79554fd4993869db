"""Outcome of an imported task: why it ended, from the source's subtype, error flag and artifacts."""

from __future__ import annotations

from runner.importers.published.document import TaskRow
from runner.records import Artifact, ArtifactState, Outcome

TURN_CAPS = frozenset({251, 502})
"""Turn counts at which other tasks of the source name the turn limit: one session, or two."""

CONTRACT = ("github-issue.md", "lld.md", "review.md", "testing.md", "patch.diff", "implementation.md")


def outcome_of(row: TaskRow) -> tuple[Outcome, str]:
    """The outcome of ``row`` and the reason in words. Says nothing about the score, nor about ``failed``."""
    made = f"{row.artifacts_produced} of {row.artifacts_expected} artifacts"
    match row.result_subtype:
        case "error_max_turns":
            return Outcome.BUDGET, f"stopped by the turn limit after {row.num_turns} turns; {made}"
        case "length":
            return Outcome.BUDGET, f"stopped by the limit of output tokens; {made}"
    if row.is_error:
        if row.result_subtype is None and row.num_turns in TURN_CAPS:
            return Outcome.BUDGET, (
                f"the source flags an error without naming it; {row.num_turns} turns is where other tasks "
                f"of this harness met the turn limit; {made}"
            )
        named = "" if row.result_subtype is None else f" {row.result_subtype!r}"
        return Outcome.MODEL_ERROR, f"the source flags an error{named} and says no more; {made}"
    if row.artifacts_produced >= row.artifacts_expected:
        return Outcome.COMPLETED, made
    return Outcome.INCOMPLETE, f"the agent ended by itself; {made}"


def artifacts_of(row: TaskRow) -> tuple[Artifact, ...]:
    """The artifacts whose state follows from the published count: all of them, or none of them."""
    if row.artifacts_expected != len(CONTRACT):
        return ()
    states = {0: ArtifactState.MISSING, len(CONTRACT): ArtifactState.NOT_PUBLISHED}
    state = states.get(row.artifacts_produced)
    return () if state is None else tuple(Artifact(name=name, state=state) for name in CONTRACT)
