"""Reference data: what the code says of itself, as files that the pages of the site are made from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter

from runner.engine.endpoint_definitions import endpoint_definitions
from runner.harnesses.reference import all_references
from runner.providers.base import Provider
from runner.providers.registry import PROVIDERS, provider
from runner.records import Definition, HarnessReference, ProviderReference

HARNESSES: TypeAdapter[tuple[HarnessReference, ...]] = TypeAdapter(tuple[HarnessReference, ...])
HOSTING_PATHS: TypeAdapter[tuple[ProviderReference, ...]] = TypeAdapter(tuple[ProviderReference, ...])

DEFINITIONS: TypeAdapter[tuple[Definition, ...]] = TypeAdapter(tuple[Definition, ...])


def reference_files() -> Mapping[str, bytes]:
    """Content by file name."""
    providers = [provider(name) for name in sorted(PROVIDERS)]
    harnesses = all_references({each.name: each.protocols for each in providers})
    paths = tuple(map(_reference_of, providers))
    return {
        "harnesses.json": HARNESSES.dump_json(harnesses, indent=1) + b"\n",
        "endpoint.json": DEFINITIONS.dump_json(endpoint_definitions(), indent=1) + b"\n",
        "providers.json": HOSTING_PATHS.dump_json(paths, indent=1) + b"\n",
    }


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


def _reference_of(found: Provider) -> ProviderReference:
    about = found.about
    return ProviderReference(
        name=found.name,
        summary=about.summary,
        protocols=tuple(protocol.value for protocol in found.protocols),
        flags=about.flags,
        credentials=about.credentials,
        notes=about.notes,
    )
