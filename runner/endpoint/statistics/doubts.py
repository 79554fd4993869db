"""Doubts: what a reader must know besides the client's error: what was refused, counts that do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.records.bench_figures import Tokens
from runner.records.bench_manifest import BenchManifest
from runner.records.bench_trial import BenchRequest

REFUSED = frozenset({400, 422})
SHARE_REFUSED = 0.2
"""From which share of its requests on a target's refusals look like the fault of what was sent."""


def asked_flags(manifest: BenchManifest) -> Iterator[str]:
    """How the targets were asked otherwise than is usual, or than their files say."""
    settings = manifest.settings
    if settings.shared_prefix:
        yield "prompts share their beginnings: times may be those of a provider's cache of prompts"
    if settings.allow_cache:
        yield "gateways were allowed to answer from their caches"
    if settings.allow_fallback:
        yield "gateways were allowed to hand requests to other providers"
    labels = {target.identifier: target.label for target in manifest.targets}
    for each in manifest.preflight:
        label = labels.get(each.target, each.target)
        for finding in each.findings:
            yield f"{label}: {finding.parameter} is refused, and was left out or said in another way"
        for note in each.notes:
            yield f"{label}: {note}"


def request_flags(requests: Sequence[BenchRequest], tokens: Tokens) -> Iterator[str]:
    """Requests that may have failed by our own fault, and token counts that their text contradicts."""
    refused = sum(request.http_status in REFUSED for request in requests)
    if refused >= max(2, SHARE_REFUSED * len(requests)):
        yield (
            f"{refused} of {len(requests)} requests were refused with status 400 or 422: "
            "a parameter of ours may be the reason, and no fault of the endpoint's"
        )
    if tokens.misfits:
        yield (
            f"the token counts of {tokens.misfits} of {tokens.compared} long answers do not fit their text: "
            "costs and speeds by tokens are as right as these"
        )
