"""The stage for a real agent: installed programs, a replay server, and a supervised child."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runner.engine.supervision import Finished, supervise
from runner.errors import ConfigurationError
from runner.harnesses.accounting import Case, Row, account
from runner.harnesses.accounting_cassette import write_cassette
from runner.harnesses.base import Harness, Launch
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from runner.replay import ReplayServer

ROOT = Path(__file__).parent.parent.parent.parent
INSTALLED = Path(os.environ.get("HARNESSMARK_HARNESSES", ROOT / ".harnesses"))


def installed_harness(name: str) -> Harness:
    """The harness, or a skip that says how to install it."""
    missing = _missing(name)
    if missing:
        pytest.skip(missing)
    return harness(name)


@functools.cache
def _missing(name: str) -> str:
    try:
        harness(name).version(INSTALLED)
    except ConfigurationError as error:
        return f"{error.what}: {error.remedy}"
    return ""


@dataclass
class Stage:
    """A running server and a folder for runs."""

    server: ReplayServer
    folder: Path
    ends: list[Finished] = field(default_factory=list)

    def run(self, name: str, protocol: WireProtocol, case: Case) -> Row:
        """Run a harness through a case, supervised as a trial is."""
        found = installed_harness(name)
        return account(
            found,
            protocol,
            case,
            server=self.server,
            folder=self.folder,
            installed=INSTALLED,
            start=self._start,
        )

    def home(self, row: Row) -> Path:
        """The folder that was the home of a run."""
        return self.folder / f"{row.harness}-{row.protocol.value}-{row.case.name}" / "home"

    def workspace(self, row: Row) -> Path:
        """The folder that was the workspace of a run."""
        return self.home(row).parent / "workspace"

    def _start(self, launch: Launch, stdout: Path, stop: threading.Event) -> None:
        self.ends.append(supervise(launch, stdout=stdout, timeout_seconds=90, cancelled=stop))


@contextmanager
def open_stage(folder: Path) -> Iterator[Stage]:
    """A stage whose server plays the accounting cassette."""
    with ReplayServer(write_cassette(folder / "cassettes"), log=folder / "requests.jsonl") as server:
        yield Stage(server, folder)
