"""Reference data: what the code says of itself, as files that the pages of the site are made from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter

from runner.harnesses.reference import all_references
from runner.providers.registry import PROVIDERS, provider
from runner.records import HarnessReference

HARNESSES: TypeAdapter[tuple[HarnessReference, ...]] = TypeAdapter(tuple[HarnessReference, ...])


def reference_files() -> Mapping[str, bytes]:
    """Content by file name."""
    protocols = {name: provider(name).protocols for name in PROVIDERS}
    return {"harnesses.json": HARNESSES.dump_json(all_references(protocols), indent=1) + b"\n"}


def write_reference(folder: Path) -> list[str]:
    """Write the files that changed below ``folder``; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, content in reference_files().items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
            changed.append(name)
    return changed
