"""A stand-in for a coding agent: runs a script of the test's and believes what it prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runner.engine.places import Places
from runner.harnesses.base import Assignment, Launch, Reading
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.installation import Installation
from runner.providers.about import About
from runner.providers.base import ModelSession, ProviderSettings
from runner.providers.checks import Check, CheckState
from runner.providers.fixed import FixedSession
from runner.records import CacheSemantics, Cost, CostBasis, Hosting, SemanticsDecision, Usage
from tests.engine.runs import run
from tests.engine.upstream import upstream

SCRIPT = "script.py"
ENVIRONMENT: dict[str, str] = {"STAND_IN_KEY": "stand-in-key-of-1-test"}
HARNESS, PROVIDER = "tests.engine.standin:StandIn", "tests.engine.standin:Elsewhere"
PRELUDE = """
import json, os, pathlib, sys, time
artifacts = pathlib.Path(sys.argv[1]); kind = sys.argv[2]; number = int(sys.argv[3])
def say(**event): print(json.dumps(event), flush=True)
def note(name="implementation.md", text="# Done\\n"): (artifacts / name).write_text(text)
def ask():
    import socket
    host, _, port = os.environ["ADDRESS"].partition(":")
    with socket.create_connection((host, int(port))) as model:
        model.sendall(f"POST /v1/chat/completions HTTP/1.1\\r\\nhost: {host}\\r\\n".encode())
        model.sendall(f"authorization: Bearer {os.environ['KEY']}\\r\\n".encode())
        model.sendall(b"content-length: 2\\r\\n\\r\\n{}")
        model.recv(65536)
def change(text="x = 1\\n"): pathlib.Path("changed.py").write_text(text)
"""

NOWHERE_NEAR = About("A stand-in.", "", "none")


@dataclass(frozen=True)
class StandIn:
    """Runs ``<installed>/script.py`` with the artifacts folder, whether it is a top-up, and its number."""

    name: str = "stand-in"
    title: str = "Stand-in"
    homepage: str | None = None
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    cache_semantics: CacheSemantics = CacheSemantics.DISJOINT
    turns_definition: str = "as printed"
    installation: Installation | None = None
    delegates: bool = False
    reports_dollars_at: tuple[str, ...] = ("elsewhere",)
    memory_mb: int = 20
    notes: tuple[str, ...] = ("It is a stand-in.",)

    def version(self, installed: Path) -> str:
        return "1"

    def launch(self, assignment: Assignment) -> Launch:
        number = assignment.home.parent.name.removeprefix("invocation-")
        kind = "top-up" if "This is a completion pass" in assignment.prompt else "whole"
        script = str(assignment.installed / SCRIPT)
        return Launch(
            command=(sys.executable, "-I", script, str(assignment.artifacts), kind, number),
            environment={
                "KEY": assignment.endpoint.api_key,
                "ADDRESS": urlsplit(assignment.endpoint.base_url).netloc,
            },
            working_directory=assignment.workspace,
            stdin=assignment.prompt.encode(),
            readable=(assignment.installed,),
        )

    def read(self, stdout: Path, assignment: Assignment) -> Reading:
        reading: dict[str, object] = {"tokens": None, "cost": None, "error": None, "limit": None}
        for line in stdout.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                reading |= json.loads(line)
            except ValueError:
                continue
        tokens, cost, error = reading["tokens"], reading["cost"], reading["error"]
        return Reading(
            stop_reason=str(reading.get("stop", "end")),
            is_error=error is not None,
            error=None if error is None else str(error),
            usage=usage(tokens) if isinstance(tokens, int) else None,
            turns=1,
            limit_hit=str(reading["limit"]) if reading["limit"] else None,
            costs=(Cost(basis=CostBasis.METERED, amount_usd=cost, source="printed"),)
            if isinstance(cost, float)
            else (),
        )

    def trace(self, line: str) -> str | None:
        return line


def usage(tokens: int) -> Usage:
    """A usage of so many tokens in all."""
    return Usage(
        input_tokens=tokens,
        output_tokens=0,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cache_semantics=CacheSemantics.DISJOINT,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )


@dataclass(frozen=True)
class Elsewhere:
    """A provider that leads to a server with nothing to say, or to the address that was given."""

    name: str = "elsewhere"
    hosting: Hosting = Hosting.UNKNOWN
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    demonstration: bool = False
    about: About = NOWHERE_NEAR

    def session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> AbstractContextManager[ModelSession]:
        return self._session(model, settings, environment)

    def checks(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[Check]:
        window = settings.context_window or 200_000
        yield Check("endpoint", CheckState.PASS, "leads nowhere, as it should", window=window)

    @contextmanager
    def _session(
        self, model: str, settings: ProviderSettings, environment: Mapping[str, str]
    ) -> Iterator[ModelSession]:
        key = environment.get(settings.api_key_env or "", "")
        window = settings.context_window or 200_000
        with upstream() as address:
            url = settings.base_url or address
            yield FixedSession(self.name, url, self.protocols, model, key, window, None)


def script(places: Places, text: str, *, asks: bool = True) -> None:
    """What the stand-in does from now on, after it asked the model for an answer."""
    places.harnesses.mkdir(exist_ok=True)
    begins = PRELUDE + ("ask()\n" if asks else "")
    (places.harnesses / SCRIPT).write_text(begins + text, encoding="utf-8")


def run_script(
    places: Places,
    text: str,
    *,
    asks: bool = True,
    flags: Mapping[str, object] | None = None,
    **more: object,
) -> tuple[int, str]:
    """Run one task with the stand-in that does ``text``."""
    script(places, text, asks=asks)
    defaults: dict[str, object] = {"harness": HARNESS, "provider": PROVIDER, "model": "m", "count": 1}
    return run(places, {**defaults, **(flags or {}), **more}, environment=ENVIRONMENT)
