"""Programs: the coding agents of a run and the runtimes they need, at their pinned versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.engine.planning import Group
from runner.engine.preflight.question import Question
from runner.errors import ConfigurationError
from runner.harnesses.base import Harness
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.interpreters import interpreter
from runner.harnesses.isolation import search_path
from runner.harnesses.programs import RUNTIMES, VERSION_SECONDS, runtime_program
from runner.harnesses.registry import asked_as
from runner.providers.checks import Check, CheckState


def harness_questions(groups: Sequence[Group], installed: Path) -> list[Question]:
    """One question for each harness of the run."""
    found = {harness.name: harness for group in groups for harness in group.parts.harnesses.values()}
    return [_question(harness, installed) for harness in found.values()]


def _question(harness: Harness, installed: Path) -> Question:
    return Question(harness.name, lambda: harness_checks(harness, installed), VERSION_SECONDS + 10)


def harness_checks(harness: Harness, installed: Path) -> Iterator[Check]:
    """Its runtime, then the program itself, which is started to say its version."""
    installation, install = harness.installation, f"invoke harness-install {asked_as(harness, harness.name)}"
    if installation is not None and installation.runtime is not Runtime.NONE:
        yield from _runtime_checks(installation, installed, install)
    try:
        version = harness.version(installed)
    except ConfigurationError as error:
        by_registry = installation is not None and installation.source is not Source.BY_HAND
        yield Check("program", CheckState.FAIL, error.what, install if by_registry else error.remedy)
        return
    if installation is None:
        yield Check("program", CheckState.PASS, f"version {version}, not installed apart")
    elif version == installation.version:
        yield Check("program", CheckState.PASS, f"version {version}, as pinned")
    else:
        found = f"version {version} is there; {installation.version} is what its module was written against"
        by_hand = installation.source is Source.BY_HAND
        fix = f"install version {installation.version} by hand" if by_hand else install
        yield Check("program", CheckState.WARN if by_hand else CheckState.FAIL, found, fix)


def _runtime_checks(installation: Installation, installed: Path, install: str) -> Iterator[Check]:
    runtime = installation.runtime
    if runtime in RUNTIMES:
        named = f"{runtime} {RUNTIMES[runtime].version}"
        if runtime_program(runtime, installed).is_file():
            yield Check("runtime", CheckState.PASS, named)
        else:
            yield Check("runtime", CheckState.FAIL, f"{named} is not installed", install)
        return
    try:
        interpreter(installation.python, search_path())
    except ConfigurationError as error:
        yield Check("runtime", CheckState.FAIL, error.what, error.remedy)
    else:
        yield Check("runtime", CheckState.PASS, f"Python {installation.python or 'of this machine'}")
