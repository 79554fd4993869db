"""Planning: from options and files to the manifest, in which every trial is fixed before anything is sent."""

from __future__ import annotations

import json
import math
import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from runner.costs.price_book import PriceBook
from runner.endpoint.pinning import pinned
from runner.endpoint.request import Deadlines, Protocol
from runner.endpoint.selectors import reference_of, select
from runner.endpoint.shapes.stages import LoadOptions, PlannedStage, profile_stages, stages_of
from runner.endpoint.shapes.wanted import WantedLoad, parse_loads
from runner.endpoint.statistics.distribution import MEASURES
from runner.endpoint.statistics.thresholds import parse_thresholds
from runner.endpoint.target import Target
from runner.endpoint.targets import Catalogue, local_target
from runner.engine.bench.casework import Chosen, case_record, chosen, external_record, transcript_of
from runner.engine.bench.options import BenchOptions, seconds_of
from runner.engine.bench.order import interleaved
from runner.errors import UsageError
from runner.records.base import sha256_of
from runner.records.bench_manifest import (
    BenchCalibration,
    BenchDeadlines,
    BenchHost,
    BenchManifest,
    BenchPrice,
    BenchSettings,
    BenchTarget,
    BenchTool,
)
from runner.store.slug import model_slug

DEMONSTRATION_MODEL = "replay-careful"
GENTLE = Deadlines()


@dataclass(frozen=True)
class Surroundings:
    """What a plan takes from outside of the options."""

    catalogue: Catalogue
    book: PriceBook
    tool: BenchTool
    host: BenchHost
    now: datetime


def targets_of(options: BenchOptions, catalogue: Catalogue, on: date) -> tuple[Target, ...]:
    """The targets that are meant; without a model or an address those of the built-in server.

    Raises:
        UsageError: there are none, or the built-in server would be compared with real ones.
    """
    if options.url:
        protocol = Protocol(options.protocol) if options.protocol else Protocol.CHAT_COMPLETIONS
        raw = options.model_id or options.models[0]
        slug = model_slug(options.models[0])
        key = options.api_key_env or None
        local = local_target(
            options.url,
            raw,
            model=slug,
            key_variable=key,
            protocol=protocol,
            on=on,
            effort=options.effort or None,
        )
        return (local,)
    models = options.models or (DEMONSTRATION_MODEL,)
    found = select(catalogue, models, options.mappings, on=on, with_deactivated=options.include_deactivated)
    efforts = {word for target in found for word in target.entry.capabilities.effort_words}
    if options.effort and options.effort not in efforts:
        known = ", ".join(sorted(efforts)) or "none of them knows any; leave it out"
        raise UsageError(f"no target knows the effort {options.effort!r}", remedy=f"known: {known}")
    played = [target for target in found if target.entry.replay is not None]
    if played and len(played) < len(found):
        raise UsageError(
            "the built-in server is not compared with real endpoints",
            remedy="choose mappings with --mapping, as in replay:swift,replay:slow",
        )
    return found


def plan(
    options: BenchOptions,
    targets: Sequence[Target],
    around: Surroundings,
    calibration: BenchCalibration | None = None,
    calibration_missing: str | None = None,
) -> BenchManifest:
    """The manifest of a new run.

    Raises:
        UsageError: something asked for does not exist, or a limit in dollars cannot be kept.
        ConfigurationError: a file has faults.
    """
    work = chosen(options)
    settings = _settings(options, work)
    prices = {target.identifier: price_of(target, around.book, around.now.date()) for target in targets}
    if settings.budget_usd is not None:
        _require_prices(targets, prices)
    stages = _stages(options, work, targets, settings)
    cases = {case.identifier: case for case in work.plain}
    cases |= {case.identifier: case for stage in stages for case, _ in stage.units}
    names = [target.identifier for target in targets]
    plain = interleaved(
        names, [(case, case.slots()) for case in work.plain], settings.seed, settings.order_seed
    )
    planned = (*plain, *(entry for stage in stages if not stage.stage.adaptive for entry in stage.planned()))
    if not planned and not stages:
        raise UsageError("nothing is planned: no case has a trial")
    entries = tuple(target_record(target, prices[target.identifier], settings) for target in targets)
    word = work.profile or (work.suites[0] if work.suites else "load")
    return BenchManifest(
        run_id=f"{around.now:%Y%m%dt%H%M%S}-{word}-{settings.salt[:6]}",
        model=targets[0].model,
        demonstration=all(target.entry.replay is not None for target in targets),
        created_at=around.now,
        tool=around.tool,
        host=around.host,
        settings=settings,
        settings_sha256=settings_digest(settings, targets),
        price_book_sha256=around.book.digest,
        reference=reference_of(options.reference or None, targets).identifier,
        targets=entries,
        cases=tuple(case_record(case) for case in cases.values()),
        stages=tuple(stage.stage for stage in stages),
        planned=planned,
        calibration=calibration,
        calibration_missing=calibration_missing if calibration is None else None,
    )


def settings_digest(settings: BenchSettings, targets: Sequence[Target]) -> str:
    """Tells whether targets are described today as they were when a run was planned."""
    described = [{"model": target.model, "entry": target.entry.model_dump(mode="json")} for target in targets]
    document = {"settings": settings.model_dump(mode="json"), "targets": described}
    return sha256_of(json.dumps(document, sort_keys=True).encode())


def price_of(target: Target, book: PriceBook, on: date) -> BenchPrice:
    """What the price book says of a target on a day."""
    if target.entry.replay is not None:
        return BenchPrice(priced_on=on, missing_reason="the built-in server bills nothing")
    answer = book.lookup(target.price_question(on))
    row, prices = answer.row, answer.token_prices
    if row is None or prices is None:
        return BenchPrice(priced_on=on, missing_reason=answer.missing_reason or "no price is known")
    return BenchPrice(
        input=prices.input,
        output=prices.output,
        cache_read=prices.cache_read,
        cache_write=prices.cache_write,
        per_request=row.prices.per_request,
        currency=row.currency,
        priced_on=on,
        source=row.source,
        checked_on=row.checked_on,
        missing_reason=None if row.currency == "USD" else f"the price is in {row.currency}",
    )


def target_record(target: Target, price: BenchPrice, settings: BenchSettings) -> BenchTarget:
    """What a manifest keeps of a target."""
    entry, replay = target.entry, target.entry.replay
    pins = pinned(
        entry.provider,
        entry.gateway,
        allow_cache=settings.allow_cache,
        allow_fallback=settings.allow_fallback,
    )
    return BenchTarget(
        identifier=target.identifier,
        model=target.model,
        label=target.label,
        title=target.title,
        provider=entry.provider,
        region=entry.region,
        model_id=entry.model_id,
        protocol=entry.protocol.value,
        base_url=entry.base_url,
        replay=None if replay is None else "/".join((replay.scenario, *replay.faults)),
        key_variable=entry.key_variable,
        quantization=entry.quantization,
        context_tokens=entry.context_tokens,
        max_output_tokens=entry.max_output_tokens,
        origin=target.origin,
        pinning={**pins.headers, **pins.parameters},
        source=entry.source,
        checked_on=entry.checked_on,
        price=price,
    )


def parse_limits(texts: Sequence[str]) -> dict[str, float]:
    """Latency limits such as ``ttft_ms=800``.

    Raises:
        UsageError: a figure that does not exist, or no number above 0.
    """
    found: dict[str, float] = {}
    for text in (part.strip() for each in texts for part in each.split(",") if part.strip()):
        name, _, value = text.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = -1.0
        if not 0 < found[name] < math.inf:
            raise UsageError(f"{text!r} is no limit", remedy="write it as in ttft_ms=800")
        if name not in MEASURES:
            raise UsageError(
                f"there is no figure {name!r}", remedy="known: ttft_ms, latency_ms, tpot_ms, output_tps, ..."
            )
    return found


def _settings(options: BenchOptions, work: Chosen) -> BenchSettings:
    loads = parse_loads(options.loads)
    parse_thresholds(options.thresholds)
    limits = parse_limits(options.limits)
    if any(load.shape == "goodput" for load in loads) and not limits:
        raise UsageError("a goodput search needs limits", remedy="add --limit ttft_ms=800")
    return BenchSettings(
        profile=work.profile,
        suites=work.suites,
        seed=options.seed,
        order_seed=random.Random(options.seed).randrange(2**32),  # noqa: S311 - an order, not a secret
        salt=secrets.token_hex(8),
        concurrency=options.concurrency,
        workers=options.workers,
        transport=options.transport,
        budget_seconds=seconds_of(options.budget_seconds, "--budget-seconds", work.seconds),
        load_budget_seconds=seconds_of(
            options.load_budget_seconds, "--load-budget-seconds", work.load_seconds
        ),
        budget_usd=options.budget_usd,
        deadlines=BenchDeadlines(
            connect=GENTLE.connect,
            headers=GENTLE.headers,
            stall=options.stall_seconds or GENTLE.stall,
            total=options.timeout_seconds or GENTLE.total,
        ),
        effort=options.effort or None,
        max_output_tokens=options.max_output_tokens,
        temperature=options.temperature,
        allow_cache=options.allow_cache,
        allow_fallback=options.allow_fallback,
        shared_prefix=options.shared_prefix,
        keep_responses=options.keep_responses,
        thresholds=options.thresholds,
        limits=limits,
        external=external_record(options),
        transcript=next((load.path for load in loads if load.shape == "transcript"), None),
    )


def _stages(
    options: BenchOptions, work: Chosen, targets: Sequence[Target], settings: BenchSettings
) -> tuple[PlannedStage, ...]:
    """Stages level by level, the targets of a level side by side in a random order."""
    loads = parse_loads(options.loads)
    transcript = None if settings.transcript is None else transcript_of(settings.transcript)
    how = LoadOptions(settings.seed, options.load_requests, options.load_warm_up)
    by_target = [
        (
            *profile_stages(work.levels, target.identifier, settings.seed),
            *stages_of(_closed_first(loads), target.identifier, how, transcript),
        )
        for target in targets
    ]
    drawn = random.Random(settings.order_seed)  # noqa: S311 - an order, not a secret
    found: list[PlannedStage] = []
    for same_level in zip(*by_target, strict=True):
        turns = list(same_level)
        drawn.shuffle(turns)
        found += turns
    return tuple(found)


def _closed_first(loads: Sequence[WantedLoad]) -> Sequence[WantedLoad]:
    return sorted(loads, key=lambda load: not load.closed_loop)


def _require_prices(targets: Sequence[Target], prices: Mapping[str, BenchPrice]) -> None:
    unpriced = [
        f"{target.identifier}: {prices[target.identifier].missing_reason}"
        for target in targets
        if prices[target.identifier].missing_reason is not None
    ]
    if unpriced:
        raise UsageError(
            "a limit in dollars cannot be kept where no price is known:\n  " + "\n  ".join(unpriced),
            remedy="add the price to datasets/prices/tokens, or leave --budget-usd out",
        )
