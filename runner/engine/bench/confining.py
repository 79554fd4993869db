"""Confining: where the code that models write is run while coding tasks are measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.endpoint.suites.coding.candidate import Workbench
from runner.engine.isolation.bubblewrap import bubblewrap_command, probe_bubblewrap
from runner.engine.isolation.sight import see

PLAIN = "a process with limits"
SANDBOX = "bubblewrap"


def workbench() -> tuple[Workbench, str]:
    """A workbench, and what confines it: a sandbox without a network where there is one, else limits only."""
    probe = probe_bubblewrap()
    if not probe.works:
        return Workbench(), f"{PLAIN}: {probe.reason}"

    def confine(command: Sequence[str], work: Path, home: Path) -> Sequence[str]:
        """The command inside a sandbox that sees its two folders and no network."""
        sight = see(writable=(work, home), readable=(), environment={})
        return (*bubblewrap_command(probe, sight, working_directory=work, socket=None), *command)

    return Workbench(confine), SANDBOX
