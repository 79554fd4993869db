"""Gate: everything that must hold before a change lands: lint, types, and every test with real parts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runner.engine.places import Places
from tests.agents import ensure_agents
from tests.chromium import ensure_chromium
from tests.sandbox import ensure_sandbox

CHECKS = (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",))


def run_gate(places: Places, say: Callable[[str], None], only: Sequence[str]) -> int:
    """Exit code of the first step that fails, else 0.

    Args:
        only: folders or files of tests; with any, lint and types are left out.
    """
    # What the tests need is fetched while lint and types are looked at: the one waits, the other computes.
    with ThreadPoolExecutor(max_workers=1) as pool:
        ready = pool.submit(_ensure, places, say)
        if not only:
            pool.submit(_compile_tests, places)
        code = _first_failure(places, say, () if only else CHECKS)
        ready.result()
    return code or _first_failure(places, say, [("pytest", "-n", "2", *only)])


def _ensure(places: Places, say: Callable[[str], None]) -> None:
    ensure_chromium(say)
    ensure_sandbox(say)
    ensure_agents(places.harnesses, say)


def _compile_tests(places: Places) -> None:
    """Keep the tests and what they import as bytecode, which every worker would otherwise make for itself.

    A machine may forbid Python to write it. What is wrong with a test is told when the tests run.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-q"]
    subprocess.call(
        command,
        cwd=places.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _first_failure(places: Places, say: Callable[[str], None], steps: Sequence[Sequence[str]]) -> int:
    tools = Path(sys.executable).parent
    for program, *words in steps:
        say("$ " + " ".join([program, *words]))
        code = subprocess.call([str(tools / program), *words], cwd=places.root)
        if code:
            return code
    return 0
