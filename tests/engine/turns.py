"""Turns: a provider for tests whose models take turns on one server that is not there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.engine.places import Places
from runner.errors import EndpointError
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.providers.about import About
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.checks import Check
from runner.providers.fixed import FixedSession
from runner.records import Hosting
from tests.engine.upstream import upstream

PROVIDER = "tests.engine.turns:Turns"
ABOUT = About(summary="A server that is not there.", flags="", credentials="none")
LOG, FAULTS = "turns.jsonl", "turns-faults.json"


@dataclass(frozen=True)
class TurnsSession(FixedSession):
    """A session that is at fault while a file says so."""

    folder: Path = Path()

    def endpoint(self, protocol: WireProtocol, *, run: str, scenario: str) -> Endpoint:
        if (reason := faults(self.folder).get(f"fails-{self.model}")) is not None and run != "preflight":
            raise EndpointError(reason)
        return super().endpoint(protocol, run=run, scenario=scenario)

    def fault(self) -> str | None:
        fault = faults(self.folder).get(f"dies-{self.model}")
        return fault if fault and (self.folder / "dead").exists() else None


@dataclass(frozen=True)
class Turns:
    """Each model has the server to itself, except those whose name begins with ``free``."""

    name: str = "turns"
    hosting: Hosting = Hosting.SELF_HOSTED
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    demonstration: bool = False
    about: About = ABOUT

    def exclusive_key(self, model: str, settings: ProviderSettings) -> str | None:
        return None if model.startswith("free") else f"the server with {model}"

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        return iter(())

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        return self._session(model, settings)

    @contextmanager
    def _session(self, model: str, settings: ProviderSettings) -> Iterator[ModelSession]:
        folder = Path(settings.installed or "")
        note(folder, "starts", model)
        known = faults(folder)
        if settings.say is not None:
            settings.say(f"starting a server for {model}")
        if (reason := known.get(f"refuses-{model}")) is not None:
            raise EndpointError(reason, remedy="look at its log")
        window = int(known.get(f"window-{model}", "200000"))
        (folder / "dead").unlink(missing_ok=True)
        note(folder, "open", model)
        try:
            with upstream() as address:
                yield TurnsSession(
                    self.name, address, self.protocols, model, "no-key-here", window, None, folder=folder
                )
        finally:
            note(folder, "closed", model)
            if (reason := known.get(f"clings-{model}")) is not None:
                raise EndpointError(reason)


def note(folder: Path, event: str, model: str) -> None:
    """Write an event down."""
    with (folder / LOG).open("a", encoding="utf-8") as log:
        log.write(json.dumps([event, model, os.getpid()]) + "\n")


def faults(folder: Path) -> dict[str, str]:
    """What goes wrong, by event and model."""
    path = folder / FAULTS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def plan_faults(places: Places, **wanted: str) -> None:
    """Have things go wrong from now on."""
    places.harnesses.mkdir(exist_ok=True)
    named = {name.replace("_", "-"): reason for name, reason in wanted.items()}
    (places.harnesses / FAULTS).write_text(json.dumps(named), encoding="utf-8")


def events(places: Places) -> list[tuple[str, str]]:
    """What happened to servers, in order."""
    path = places.harnesses / LOG
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [(event, model) for event, model, _ in map(json.loads, lines)]
