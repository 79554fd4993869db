"""Reference of harnesses: what each module says of itself, as a value that pages are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner.harnesses.base import Harness
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Runtime
from runner.harnesses.listing import cannot_use
from runner.harnesses.registry import HARNESSES, harness
from runner.records import HarnessReference

BUILT_IN = "built-in"


def all_references(providers: Mapping[str, Sequence[WireProtocol]]) -> tuple[HarnessReference, ...]:
    """Every registered harness, in the order of their names.

    Args:
        providers: protocols by provider, as the registry of providers has them.
    """
    return tuple(reference_of(harness(name), providers) for name in sorted(HARNESSES))


def reference_of(found: Harness, providers: Mapping[str, Sequence[WireProtocol]]) -> HarnessReference:
    """What ``found`` says of itself."""
    installation = found.installation
    reasons = {name: cannot_use(found, offered) for name, offered in sorted(providers.items())}
    runtime = installation.runtime if installation else Runtime.NONE
    return HarnessReference(
        name=found.name,
        title=found.title,
        homepage=found.homepage,
        source=installation.source.value if installation else BUILT_IN,
        package=installation.package if installation else None,
        version=installation.version if installation else None,
        runtime=None if runtime is Runtime.NONE else runtime.value,
        installation_note=installation.note if installation else "",
        protocols=tuple(protocol.value for protocol in found.protocols),
        providers=tuple(name for name, reason in reasons.items() if reason is None),
        unusable_providers={name: reason for name, reason in reasons.items() if reason},
        delegates=found.delegates,
        memory_mb=found.memory_mb,
        turns_definition=found.turns_definition,
        cache_semantics=found.cache_semantics.value,
        notes=found.notes,
    )
