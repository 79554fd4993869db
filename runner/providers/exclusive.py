"""Exclusive: what a provider may say beside the rest when its models take turns on one server."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from runner.providers.base import ProviderSettings


@runtime_checkable
class ExclusiveProvider(Protocol):
    """A provider some of whose models cannot be reachable beside others."""

    def exclusive_key(self, model: str, settings: ProviderSettings) -> str | None:
        """What a session with ``model`` has to itself, such as a server and what it serves.

        Sessions with different keys are never open at once. None: it may be open beside any other. Asked
        before anything is started; must be cheap and the same every time.
        """


@runtime_checkable
class WatchedSession(Protocol):
    """A session that can tell whether its server is still there."""

    def fault(self) -> str | None:
        """What is wrong with the server, in a sentence; None while it answers. Takes seconds at most."""


def exclusive_key(provider: object, model: str, settings: ProviderSettings) -> str | None:
    """The key of ``model``, or None where the provider has no such thing."""
    return provider.exclusive_key(model, settings) if isinstance(provider, ExclusiveProvider) else None


def fault_of(session: object) -> str | None:
    """What is wrong with the server of ``session``, as far as it can be told."""
    return session.fault() if isinstance(session, WatchedSession) else None
