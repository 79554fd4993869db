"""Host: what measured and where, as far as it may stand in a file that is published."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from runner.endpoint.loops import event_loop_named
from runner.records.bench_manifest import METHODOLOGY, BenchHost, BenchTool

GIT_SECONDS = 10.0


def this_host(client_region: str, sandbox: str, event_loop: str = "asyncio") -> BenchHost:
    """This machine, without its name.

    Raises:
        ConfigurationError, UsageError: there is no such event loop here.
    """
    return BenchHost(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        processors=os.cpu_count() or 1,
        python=platform.python_version(),
        event_loop=event_loop_named(event_loop),
        sandbox=sandbox,
        client_region=client_region or None,
    )


def this_tool(root: Path) -> BenchTool:
    """This version, with the commit of the code where git knows it."""
    commit = _git(root, "rev-parse", "HEAD")
    changed = None if commit is None else _git(root, "status", "--porcelain", "--", "runner")
    return BenchTool(
        version=version("harnessmark"),
        methodology=METHODOLOGY,
        git_commit=commit,
        git_dirty=None if changed is None else bool(changed),
    )


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), *arguments]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
