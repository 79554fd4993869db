"""Models: each one where it is served: reachable, the right one, its protocols, a window that will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.question import Question
from runner.engine.resolution import provider_settings
from runner.engine.sessions import common_protocol
from runner.engine.window import Gate, window_check
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import Provider, ProviderSettings
from runner.providers.checks import CONTEXT_WINDOW, PROTOCOL, Check, CheckState

MODEL_SECONDS = 60.0
"""Providers end their requests themselves after about ten seconds; this is for one that does not."""


@dataclass(frozen=True)
class _Place:
    """One model at one hosting path, and what the cells of the run ask of it."""

    provider: Provider
    model: str
    settings: ProviderSettings
    protocols: tuple[WireProtocol, ...]
    gates: tuple[Gate, ...]
    mismatches: tuple[Check, ...]
    """Harnesses that cannot speak with this provider."""

    @property
    def subject(self) -> str:
        """As the table names it."""
        return f"{self.model} at {self.provider.name}"


def model_questions(
    groups: Sequence[Group], places: Places, environment: Mapping[str, str]
) -> list[Question]:
    """One question for each model and hosting path; cells that share them are asked for once."""
    merged: dict[tuple[str, str, ProviderSettings], _Place] = {}
    for group in groups:
        for place in _places_of(group, places):
            key = (place.provider.name, place.model, place.settings)
            merged[key] = _merged(merged[key], place) if key in merged else place
    return [_question(place, environment) for place in merged.values()]


def _question(place: _Place, environment: Mapping[str, str]) -> Question:
    return Question(place.subject, lambda: place_checks(place, environment), MODEL_SECONDS)


def place_checks(place: _Place, environment: Mapping[str, str]) -> Iterator[Check]:
    """What the provider says of itself, then whether the window is large enough."""
    yield from place.mismatches
    asked = replace(place.settings, protocols=place.protocols or place.settings.protocols)
    window, failed = place.settings.context_window, False
    for check in place.provider.checks(place.model, asked, environment):
        failed = failed or check.state is CheckState.FAIL
        if check.window is not None:
            yield from _differing(place.settings.context_window, check.window)
            window = window or check.window
        if check.name != CONTEXT_WINDOW or check.state is not CheckState.PASS:
            yield check
    if not failed and not place.provider.demonstration:
        for gate in place.gates:
            yield window_check(window, gate)


def _differing(given: int | None, said: int) -> Iterator[Check]:
    """A window that was given and is larger than the server's own: requests would be refused late."""
    if given is not None and given > said:
        found = f"{given} tokens are given, the server says {said}"
        yield Check(CONTEXT_WINDOW, CheckState.WARN, found, f"--context-window {said}")


def _places_of(group: Group, places: Places) -> Iterator[_Place]:
    settings, provider = group.settings, group.parts.provider
    for model in settings.model:
        protocols: dict[WireProtocol, None] = {}
        mismatches = []
        for harness in group.parts.harnesses.values():
            try:
                protocols[common_protocol(harness, provider, settings.protocol, model)] = None
            except ConfigurationError as error:
                mismatches.append(Check(PROTOCOL, CheckState.FAIL, error.what, error.remedy))
        gate = Gate(model, settings.max_output_tokens, settings.allow_small_window)
        yield _Place(
            provider,
            model,
            provider_settings(settings, places),
            tuple(protocols),
            (gate,),
            tuple(mismatches),
        )


def _merged(one: _Place, other: _Place) -> _Place:
    return replace(
        one,
        protocols=tuple(dict.fromkeys((*one.protocols, *other.protocols))),
        gates=tuple(dict.fromkeys((*one.gates, *other.gates))),
        mismatches=tuple(dict.fromkeys((*one.mismatches, *other.mismatches))),
    )
