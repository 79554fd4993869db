"""Notes: facts about imported runs that stand elsewhere in the source and not in the files themselves."""

from __future__ import annotations

from collections.abc import Mapping

from runner.importers.published.document import RunDocument, TaskRow
from runner.records import DataWarning

FAISS = "remove-faiss"
KEYCLOAK = "replace-keycloak-db-password-with-rds-iam"
V1 = "mcp-gateway-registry"
V2 = "mcp-gateway-registry-v2"

INVOCATIONS: Mapping[tuple[str, str, str, str, str], int] = {
    ("claude-code", "claude-sonnet-5", "swe3", V1, FAISS): 2,
    ("claude-code", "glm-5.2", "swe3", V1, FAISS): 2,
    ("claude-code", "kimi-k2.7-code", "swe3", V1, FAISS): 2,
    ("claude-code", "nemotron-ultra-550b", "swe3", V1, FAISS): 2,
    ("claude-code", "qwen3-coder-480b", "swe3", V1, FAISS): 2,
    ("claude-code", "deepseek-v3.2", "swe3", V1, FAISS): 2,
    ("claude-code", "claude-sonnet-5", "swe2", V1, FAISS): 3,
    ("claude-code", "claude-opus-5", "swe2", V1, KEYCLOAK): 2,
    ("claude-code", "claude-opus-5", "swe2", V1, FAISS): 2,
}
"""Starts of the agent as the per-task metrics of the source count them."""

RETIERED: Mapping[tuple[str, str], str] = {
    (V2, "build-docker-images-from-uv-lock"): "from low to medium",
}
"""Tasks whose complexity was changed after results were known, without a new run."""

DOUBTFUL_GROUNDING = frozenset({("strands", "minicpm5-2b")})
"""Runs whose judge wrote that commands in the repository could not be run."""

JUDGED_AGAIN: Mapping[tuple[str, str, str, str, str], str] = {
    (
        "claude-code",
        "qwen3-coder-480b",
        "swe3",
        V1,
        FAISS,
    ): "the per-task metrics say 0 of 6 artifacts and an earlier score of 0",
}

MOVING_REFS = frozenset({"main", "master", "HEAD"})


def note_warnings(run: RunDocument, slug: str, row: TaskRow) -> list[DataWarning]:
    """What the rest of the source says about one task."""
    key = (run.harness, slug, run.skill, run.dataset, row.task)
    found = []
    if key in INVOCATIONS:
        found.append(
            DataWarning(
                code="several-invocations",
                text=f"The agent was started {INVOCATIONS[key]} times, as the per-task metrics of the source "
                "say; rates need not follow from the sums.",
            )
        )
    if key in JUDGED_AGAIN:
        found.append(DataWarning(code="judged-again", text=f"Judged again later: {JUDGED_AGAIN[key]}."))
    retiered = RETIERED.get((run.dataset, row.task))
    if retiered:
        found.append(
            DataWarning(
                code="task-retiered",
                text=f"The complexity was moved {retiered} after first results were known; the row says "
                f"{row.complexity}.",
            )
        )
    if (run.harness, slug) in DOUBTFUL_GROUNDING:
        found.append(
            DataWarning(
                code="grounding-doubtful",
                text="The judge block says that the judge read the repository; its notes say that "
                "commands in the repository could not be run.",
            )
        )
    ref = row.ref or run.dataset_ref
    if ref in MOVING_REFS:
        found.append(
            DataWarning(
                code="moving-ref", text=f"The task ran on the branch {ref}, at a commit that is not known."
            )
        )
    return found
