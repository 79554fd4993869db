"""Hostile trials: a store in which agent, model and server wrote the hostile corpus wherever they can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.records import (
    CacheSemantics,
    CheckStatus,
    Cost,
    CostBasis,
    DataWarning,
    Fingerprint,
    ModelName,
    SemanticsDecision,
    Usage,
)
from tests import examples
from tests.generators.tables.made import Made, write
from tests.hostile import corpus

TEXTS_OF_A_TRIAL = 12
RAW_ID_LIMIT = 300


@dataclass(frozen=True)
class HostileTrial:
    """The source path of a trial's page and the texts that stand on it."""

    page: str
    texts: tuple[str, ...]


def hostile_texts() -> list[str]:
    """The corpus as a record can hold it: no lone surrogates, nothing empty, of bounded length."""
    texts = (entry.text.encode("utf-8", "replace").decode()[:900] for entry in corpus())
    return [text for text in texts if text.strip()]


def write_hostile_trials(root: Path) -> list[HostileTrial]:
    """Write the store below ``root``; the trials with what each must show."""
    texts = hostile_texts()
    groups = [texts[start : start + TEXTS_OF_A_TRIAL] for start in range(0, len(texts), TEXTS_OF_A_TRIAL)]
    write(root, [_made(place, group) for place, group in enumerate(groups)])
    return [
        HostileTrial(f"cells/model-{place}_endpoint/loop/fix/hello-world/task-{place}/1.md", tuple(group))
        for place, group in enumerate(groups)
    ]


def _made(place: int, texts: Sequence[str]) -> Made:
    first, together = texts[0], "\n".join(texts)
    name = ModelName(raw_id=first[:RAW_ID_LIMIT], slug=f"model-{place}")
    invocations = tuple(
        examples.invocation(number + 1).model_copy(
            update={
                "stop_reason": text,
                "error": text,
                "command": ("agent", text),
                "usage_by_model": {text: _usage(text)},
            }
        )
        for number, text in enumerate(texts)
    )
    return Made(
        f"task-{place}",
        cell=examples.cell(f"model-{place}").model_copy(update={"model": name}),
        checks=tuple(CheckStatus.FAILED for _ in texts),
        tails=tuple(texts),
        warnings=tuple(DataWarning(code="moving-ref", text=text) for text in texts),
        files={
            "implementation.md": f"# {together}\n\n{together}\n\n```\n{together}\n```\n".encode(),
            "patch.diff": "".join(_file_patch(text) for text in texts).encode(),
            "notes.txt": together.encode() + b"\xff\xfe",
        },
        changes={
            "outcome_reason": together[:1000],
            "invocations": invocations,
            "turns_definition": first,
            "base_commit": first,
            "usage": _usage(first),
            "costs": tuple(Cost(basis=CostBasis.METERED, amount_usd=1.0, source=text) for text in texts),
            "fingerprint": Fingerprint(dataset_version=first, harness_version=first, skill_version=first),
        },
    )


def _usage(text: str) -> Usage:
    return Usage(
        input_tokens=1,
        output_tokens=2,
        cache_semantics=CacheSemantics.DISJOINT,
        semantics_decided_by=SemanticsDecision.ADAPTER,
        sources={"input_tokens": text, text: text},
    )


def _file_patch(text: str) -> str:
    name = text.replace("\n", " ")
    return f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@ {name}\n-{name}\n+{text}\n"
