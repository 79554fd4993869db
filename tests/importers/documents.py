"""Published files as a starting point for changes, and stores to import them into."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from runner.importers.published.document import RunDocument
from tests.importers import figures
from tests.importers.figures import Json

METERED = figures.DATA / "pi" / "claude-opus-5__swe3__mcp-gateway-registry.json"
OWN_MACHINE = figures.DATA / "pi" / "glm-5.2__swe3__mcp-gateway-registry.json"
SWEEP = figures.DATA / "throughput" / "glm-5.2.json"

Step = str | int


def changed(path: Path, *changes: tuple[tuple[Step, ...], Any]) -> Json:
    """The document at ``path`` with values set at the given places; ``...`` takes a key away."""
    document = figures.read(path)
    for (*steps, last), value in changes:
        place: Any = document
        for step in steps:
            place = place[step]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return document


def parsed(document: Json) -> RunDocument:
    """A run document, validated."""
    return RunDocument.model_validate_json(json.dumps(document))


def one_task(path: Path = METERED, number: int = 0, **row: Any) -> RunDocument:
    """A run of a single task, with figures of its row changed and its summary taken away."""
    document = figures.read(path)
    document["tasks"] = [{**document["tasks"][number], **row}]
    del document["published_summary"]
    return parsed(document)


def written(folder: Path, name: str, document: object) -> Path:
    """``document`` as a JSON file of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def copied(folder: Path, *sources: Path) -> Path:
    """``folder`` with copies of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        shutil.copy(source, folder / source.name)
    return folder


def listing(root: Path) -> dict[str, bytes]:
    """Every file below ``root`` with its content."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
