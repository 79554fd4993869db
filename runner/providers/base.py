"""Provider: a hosting path through which a harness reaches a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from runner.harnesses.endpoint import Endpoint, TokenPrices, WireProtocol
from runner.providers.about import About
from runner.providers.checks import Check
from runner.providers.counters import ServerCounters
from runner.records import Hosting


@dataclass(frozen=True)
class ProviderSettings:
    """What a user may say about a hosting path. A key is named by its environment variable, never given."""

    base_url: str | None = None
    api_key_env: str | None = None
    context_window: int | None = None
    cassettes: str | None = None
    """Folder of cassettes; only the replay server looks at it."""
    faults: tuple[str, ...] = ()
    """What the replay server does wrong, such as ``first1-e500``."""
    request_log: str | None = None
    """File that gets one line per request of the replay server."""
    hosting: Hosting | None = None
    """Who runs the machines, where the user says so."""
    prices: TokenPrices | None = None
    protocols: tuple[WireProtocol, ...] = ()
    """The only ones to offer, where the user says so."""
    backend_model: str | None = None
    """What the server behind a proxy calls the model; None: as the model is called here."""
    backend_protocol: WireProtocol | None = None
    """What the server behind a proxy speaks; None: Chat Completions."""
    recipe: str | None = None
    """Name or path of a serving recipe; None: the one that serves the model, if there is one."""
    recipes: str | None = None
    """Folder of serving recipes."""
    installed: str | None = None
    """Folder of installed programs."""
    state: str | None = None
    """Folder for process files and logs of servers that a provider starts; outside git."""
    aws_region: str | None = None
    """None: the one of the environment or of the profile."""
    aws_profile: str | None = None
    """Of the user's own AWS configuration; None: the default credentials."""
    dollars_per_credit: float | None = None
    """What the user pays for one credit of a vendor that bills in credits."""
    longest_seconds: float | None = None
    """Wall clock that one invocation may take, so that no credential runs out before its end."""
    say: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
    """Gets a line for each step that takes its time."""


class ModelSession(Protocol):
    """A model made reachable for the length of a run."""

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:
        """Where the model answers for one trial.

        Args:
            protocol: the API the harness speaks.
            run: id of the trial, unique in the run; a server that counts per run uses it.
            scenario: ``<dataset>/<task>``; only the replay server looks at it.
        """

    def requests_seen(self, run: str) -> int | None:
        """How many requests for answers the model's server itself counted for the trial ``run``.

        None where the server cannot be asked.
        """

    def counters(self) -> ServerCounters | None:
        """What the model's server has counted since its start, over all its clients.

        None where it cannot be asked.
        """


def metrics_page(session: ModelSession) -> str | None:
    """Address of the page on which the model's server tells its metrics; None where it has none to ask for.

    A session that knows one has an attribute ``metrics_url``. Whether there is a page is another question.
    """
    found = getattr(session, "metrics_url", None)
    return found if isinstance(found, str) and found else None


def protocols_for(provider: Provider, model: str) -> tuple[WireProtocol, ...]:
    """The protocols over which ``provider`` can serve ``model``.

    A provider whose models differ in this has a method ``protocols_for(model)`` beside its ``protocols``,
    which are then those of all its models together. What it returns is in the order of preference.
    """
    asked = getattr(provider, "protocols_for", None)
    return provider.protocols if asked is None else tuple(asked(model))


def model_decides(provider: Provider) -> bool:
    """Whether the provider says for each model which protocols suit it, the best one first."""
    return hasattr(provider, "protocols_for")


class Provider(Protocol):
    """A hosting path. One module, one registry line, one contract test."""

    name: str
    hosting: Hosting
    protocols: tuple[WireProtocol, ...]
    demonstration: bool
    about: About

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        """Make ``model`` reachable; what was started stops when the context ends.

        Raises:
            ConfigurationError: a setting or a credential is missing; the remedy says which.
        """

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        """What can be said before a run, one line each, the cheapest first; stops where the rest would guess.

        ``settings.protocols`` holds those that the harnesses of the run would speak. A fault of the path is
        a check that failed, never an exception. No model is asked for an answer, so nothing is billed, and a
        server that keeps silent ends it within about ten seconds. The context window travels in the field
        of the check that found it.
        """
