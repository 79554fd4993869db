"""Pre-flight of a run: every target is asked a little before anything counts, and its faults are told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import yaml

from runner.endpoint.acceptance import corrected
from runner.endpoint.address import EndpointAddress
from runner.endpoint.admission import KEPT_OUT
from runner.endpoint.client import StreamClient
from runner.endpoint.loops import run as run_loop
from runner.endpoint.preflight import SALT, Preflight
from runner.endpoint.recording import Keeping, request_record
from runner.endpoint.result import StreamResult
from runner.endpoint.statistics.money import at_most, request_cost
from runner.endpoint.suites.asking import Manner
from runner.endpoint.suites.case import Case
from runner.endpoint.target import Target
from runner.engine.bench.casework import cases_again
from runner.engine.bench.kept_out import Asked, not_to_be_asked, shown_words
from runner.engine.bench.ledger import MONEY_SPENT, TIME_SPENT
from runner.engine.bench.live import manner_of
from runner.records.bench_manifest import BenchManifest, BenchPreflight, BenchPrice, PreflightFinding
from runner.secrets import Scanner

Say = Callable[[str], None]
SWITCHED_OFF = "switched off"
DEMONSTRATION = "the built-in server accepts everything"
LOOKS_FIRST = (
    "before the first trial each mapping is asked, mostly once, whether it takes these parameters; "
    "these requests count in the budgets and in no figure (--no-preflight leaves them out)"
)


def preflighted(
    manifest: BenchManifest,
    targets: Sequence[Target],
    environment: Mapping[str, str],
    scanner: Scanner,
    say: Say,
) -> BenchManifest:
    """``manifest`` with what was found, every correction of it for this run only.

    Raises:
        ConfigurationError: a target cannot be asked at all. Nothing was measured and nothing is written.
    """
    prices = {target.identifier: target.price for target in manifest.targets}
    cases, manner = cases_again(manifest), manner_of(manifest)
    # A nonce of its own: nothing that the run sends may be in a cache because of it.
    manner = replace(manner, salt=f"{manner.salt}|{SALT}")

    async def all_of_them() -> list[Asked]:
        """Look at every target at once."""
        looks = (
            _look(manifest, target, list(cases.values()), manner, prices[target.identifier], environment)
            for target in targets
        )
        return list(await asyncio.gather(*looks))

    asked = run_loop(all_of_them(), manifest.host.event_loop)
    kept_out = [each for each in asked if each.looked.admission in KEPT_OUT]
    if kept_out:
        raise not_to_be_asked(kept_out, len(asked), environment, scanner)
    records = tuple(_record(each, manifest, scanner) for each in asked)
    say(
        f"pre-flight: {_money(records)} for {_plural(sum(r.requests for r in records))} that no figure counts"
    )
    for each, record in zip(asked, records, strict=True):
        for line in preflight_lines(record, each.target):
            say(line)
    return manifest.model_copy(update={"preflight": records})


def _money(records: Sequence[BenchPreflight]) -> str:
    known = [record.cost_usd for record in records if record.cost_usd is not None]
    return f"${sum(known):.4f}" if len(known) == len(records) else "unknown cost"


def _plural(requests: int) -> str:
    return "1 request" if requests == 1 else f"{requests} requests"


async def _look(
    manifest: BenchManifest,
    target: Target,
    cases: Sequence[Case],
    manner: Manner,
    price: BenchPrice,
    environment: Mapping[str, str],
) -> Asked:
    began, settings = time.monotonic(), manifest.settings
    share = None if settings.budget_usd is None else settings.budget_usd / len(manifest.targets)

    def spent(results: Sequence[StreamResult]) -> str:
        """Why no further question is asked of this target; empty while money and time last."""
        if share is not None and _charged(results, price) >= share:
            return MONEY_SPENT
        whole = settings.budget_seconds
        return TIME_SPENT if whole is not None and time.monotonic() - began >= whole else ""

    address = EndpointAddress(target.entry.base_url or "", api_key=target.key(environment))
    async with StreamClient(
        address, transport="httpx" if settings.transport == "httpx" else "asyncio"
    ) as client:
        looked = await Preflight(target, cases, manner, client, spent).look()
    costs = [_cost(result, price) for result in looked.results]
    known = [cost for cost in costs if cost is not None]
    cost = round(sum(known), 9) if len(known) == len(costs) else None
    charged = round(_charged(looked.results, price), 9)
    return Asked(target, looked, time.monotonic() - began, cost, charged)


def _charged(results: Sequence[StreamResult], price: BenchPrice) -> float:
    return sum(at_most(request_record(result, price, Keeping(responses=False)), price) for result in results)


def _cost(result: StreamResult, price: BenchPrice) -> float | None:
    """Dollars; what was refused with a status of 4xx is billed by nobody."""
    if result.http_status is not None and 400 <= result.http_status < 500:
        return 0.0
    return request_cost(result.usage, price)[0]


def targets_corrected(manifest: BenchManifest, targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets as the run asks them: with what its pre-flight found, which no file has yet."""
    changes = {each.target: each.changes for each in manifest.preflight if each.changes}
    return tuple(
        corrected(target, changes[target.identifier]) if target.identifier in changes else target
        for target in targets
    )


def _record(asked: Asked, manifest: BenchManifest, scanner: Scanner) -> BenchPreflight:
    looked, keep = asked.looked, manifest.settings.keep_responses
    return BenchPreflight(
        target=asked.target.identifier,
        requests=len(looked.results),
        seconds=round(asked.seconds, 3),
        cost_usd=asked.cost_usd,
        charged_usd=asked.charged_usd,
        findings=tuple(
            PreflightFinding(
                parameter=each.parameter,
                how=each.how,
                words=shown_words(each.words, scanner) if keep else "",
                changes=each.changes,
            )
            for each in looked.findings
        ),
        changes=looked.changes,
        notes=tuple(looked.notes),
    )


def preflight_lines(record: BenchPreflight, target: Target) -> list[str]:
    """What was found at one target, and what to write where so that it need not be found again."""
    lines = []
    for each in record.findings:
        how = "says so" if each.how == "named" else "accepts the same request without it"
        words = f": {each.words}" if each.words else ""
        lines.append(f"pre-flight, {target.label}: it refuses {each.parameter} (the endpoint {how}){words}")
    if record.changes:
        lines.append(f"  corrected for this run; write this {_place(target)}, so that no run asks again:")
        lines += [f"    {line}" for line in yaml_of(record.changes).splitlines()]
    lines += [f"pre-flight, {target.label}: {note}" for note in record.notes]
    return lines


def yaml_of(changes: Mapping[str, object]) -> str:
    """The keys of a mapping in ``datasets/targets/*.yaml`` that say what was found."""
    own = ("context_tokens", "max_output_tokens")
    document: dict[str, object] = {key: changes[key] for key in own if key in changes}
    inner = {key: value for key, value in changes.items() if key not in own}
    if inner:
        document["capabilities"] = inner
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=100).rstrip()


def _place(target: Target) -> str:
    file = f"datasets/targets/{target.model}.yaml"
    if target.origin != "catalogue":
        return f"into a file {file} of this endpoint"
    return f"into {file}, at the mapping {target.label}"
