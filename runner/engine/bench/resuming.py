"""Resuming: a planned run taken up again: its targets as they were, and the key of its marks."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence

from runner.endpoint.request import Protocol
from runner.endpoint.target import Target
from runner.endpoint.targets import Catalogue, local_target
from runner.engine.bench.planning import settings_digest
from runner.engine.places import Places
from runner.errors import ConfigurationError
from runner.records.bench_manifest import BenchManifest, BenchTarget
from runner.store.atomic import sync_folder

MARK_BYTES = 32


def targets_again(manifest: BenchManifest, catalogue: Catalogue) -> tuple[Target, ...]:
    """The targets of a plan, in its order.

    Raises:
        ConfigurationError: one is gone, or is described in another way than when the run was planned.
    """
    known = {target.identifier: target for target in catalogue.targets}
    targets = tuple(_again(manifest, record, known.get(record.identifier)) for record in manifest.targets)
    _require_same(manifest, targets)
    return targets


def _again(manifest: BenchManifest, record: BenchTarget, known: Target | None) -> Target:
    if record.origin != "catalogue":
        return local_target(
            record.base_url or "",
            record.model_id,
            model=record.model,
            key_variable=record.key_variable,
            protocol=Protocol(record.protocol),
            on=record.checked_on or manifest.created_at.date(),
            effort=manifest.settings.effort,
        )
    if known is None:
        raise ConfigurationError(
            f"the target {record.identifier} is no longer described",
            where="datasets/targets",
            remedy="put it back, or start a new run",
        )
    return known


def _require_same(manifest: BenchManifest, targets: Sequence[Target]) -> None:
    if settings_digest(manifest.settings, targets) != manifest.settings_sha256:
        raise ConfigurationError(
            "targets of the run are described in another way than when it was planned",
            where="datasets/targets",
            remedy="undo the change to go on, or start a new run: both would not be comparable",
        )


def mark_key(places: Places, manifest: BenchManifest) -> bytes:
    """The key that answers are marked with where they are not kept; known on this machine only."""
    if manifest.settings.keep_responses:
        return b""
    path = places.artifacts / "bench" / f"{manifest.run_id}.key"
    # One that is shorter was cut by a kill: anybody could try answers with it.
    if not path.is_file() or path.stat().st_size != MARK_BYTES:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Its name is always the same, as only the holder of the run's lock writes it.
        partial = path.with_name(f".{path.name}.partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(MARK_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
        sync_folder(path.parent)
    return path.read_bytes()
