"""Casework: the cases of a run, and a case again from its id when a run goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from runner.endpoint.shapes.stages import LOAD_CASE
from runner.endpoint.shapes.talks import AGENT, TALK
from runner.endpoint.shapes.transcript import Transcript, read_transcript
from runner.endpoint.suites.case import Case
from runner.endpoint.suites.catalogue import PROFILES, SUITES, narrowed, profile_of, suite_of
from runner.endpoint.suites.external.contract import ExternalOptions, load_external
from runner.engine.bench.options import BenchOptions
from runner.errors import ConfigurationError
from runner.records.bench_manifest import BenchCase, BenchManifest

SMOKE, LOAD = "smoke", "load"
DEFAULT_SECONDS = 600.0


@dataclass(frozen=True)
class Chosen:
    """What is to be asked: plain cases, and those that are levels of a sweep.

    Args:
        seconds: usual budget of one target for the plain cases.
        load_seconds: usual budget of all load stages.
    """

    profile: str | None
    suites: tuple[str, ...]
    plain: tuple[Case, ...]
    levels: tuple[Case, ...]
    seconds: float | None
    load_seconds: float | None


def chosen(options: BenchOptions) -> Chosen:
    """The cases that the options mean. Without any word of cases: smoke, or only the load that was asked for.

    Raises:
        UsageError: a profile, suite or case that does not exist.
        ConfigurationError: the file of an external suite has faults.
    """
    if options.external:
        cases = load_external(options.external, _external(options)).cases
        return _split(None, (options.external,), cases, options, DEFAULT_SECONDS, None)
    if options.suites:
        every = {case.identifier: case for name in options.suites for case in suite_of(name)}
        return _split(None, options.suites, tuple(every.values()), options, DEFAULT_SECONDS, DEFAULT_SECONDS)
    if not options.profile and options.loads:
        return Chosen(None, (), (), (), None, DEFAULT_SECONDS)
    profile = profile_of(options.profile or SMOKE)
    return _split(
        profile.name, (), profile.cases, options, profile.budget_seconds, profile.sweep_budget_seconds
    )


def _split(
    profile: str | None,
    suites: tuple[str, ...],
    cases: Sequence[Case],
    options: BenchOptions,
    seconds: float | None,
    load_seconds: float | None,
) -> Chosen:
    wanted = [
        replace(
            case,
            runs=case.runs if options.runs is None else options.runs,
            repeats=case.repeats if options.repeats is None else options.repeats,
            warm_ups=case.warm_ups if options.warm_ups is None else options.warm_ups,
        )
        for case in narrowed(cases, options.cases)
    ]
    levels = tuple(case for case in wanted if case.concurrency > 1 or case.category == "load")
    plain = tuple(case for case in wanted if case not in levels)
    # A load that was asked for stands in place of the profile's own levels.
    return Chosen(profile, suites, plain, () if options.loads else levels, seconds, load_seconds)


def _external(options: BenchOptions) -> ExternalOptions:
    mode: Literal["strict", "loose"] = "loose" if options.external_mode == "loose" else "strict"
    unsupported: Literal["skip", "error"] = "error" if options.external_unsupported == "error" else "skip"
    return ExternalOptions(
        data=Path(options.external_data),
        limit=options.external_limit,
        offset=options.external_offset,
        mode=mode,
        unsupported=unsupported,
    )


def external_record(options: BenchOptions) -> dict[str, JsonValue]:
    """What a manifest keeps of an external suite, so that its cases can be loaded again."""
    if not options.external:
        return {}
    return {
        "name": options.external,
        "data": options.external_data,
        "limit": options.external_limit,
        "offset": options.external_offset,
        "mode": options.external_mode,
        "unsupported": options.external_unsupported,
    }


def case_record(case: Case) -> BenchCase:
    """What a manifest keeps of a case."""
    return BenchCase(
        identifier=case.identifier,
        title=case.title,
        kind=case.kind.value,
        category=case.category,
        dimension=case.dimension,
        difficulty=case.difficulty,
        description=case.description,
        variant_of=case.variant_of,
        concurrency=case.concurrency,
        max_output_tokens=case.max_output_tokens,
        effort=case.effort,
        parameters=dict(case.parameters),
    )


def cases_again(manifest: BenchManifest) -> Mapping[str, Case]:
    """The cases of a plan by their ids.

    Raises:
        ConfigurationError: one is not what it was when the run was planned.
    """
    known = {case.identifier: case for case in _known(manifest)}
    changed = [
        record.identifier
        for record in manifest.cases
        if record.identifier not in known or case_record(known[record.identifier]) != record
    ]
    if changed:
        raise ConfigurationError(
            f"cases of the run are not what they were when it was planned: {', '.join(changed[:10])}",
            where=manifest.run_id,
            remedy="start a new run; results of both would not be comparable",
        )
    return {record.identifier: known[record.identifier] for record in manifest.cases}


def _known(manifest: BenchManifest) -> Iterable[Case]:
    for suite in SUITES.values():
        yield from suite
    for profile in PROFILES.values():
        yield from profile.cases
    yield from (TALK, AGENT, LOAD_CASE)
    external, settings = manifest.settings.external, manifest.settings
    if external:
        yield from load_external(str(external["name"]), _external(_options_of(external))).cases
    if settings.transcript is not None:
        yield from read_transcript(Path(settings.transcript), settings.transcript).cases()


def _options_of(external: Mapping[str, JsonValue]) -> BenchOptions:
    limit, offset = external.get("limit"), external.get("offset")
    return BenchOptions(
        external=str(external["name"]),
        external_data=str(external["data"]),
        external_limit=limit if isinstance(limit, int) else None,
        external_offset=offset if isinstance(offset, int) else 0,
        external_mode=str(external["mode"]),
        external_unsupported=str(external["unsupported"]),
    )


def transcript_of(path: str) -> Transcript:
    """The transcript in a file that a user named."""
    return read_transcript(Path(path), path)
