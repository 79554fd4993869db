"""Answering: what the built-in server says to the cases of a run, so that a demonstration has right answers.

The server finds the case by the nonce at the front of the prompt. It knows what is right because it makes
the instance again, which no real model can.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runner.endpoint.shapes.talks import ASKED
from runner.endpoint.suites import dialogue, language, streaming, structured, tool_use
from runner.endpoint.suites.case import Case, Puzzle, Slot
from runner.engine.bench.order import slot_of
from runner.records.bench_manifest import BenchManifest
from runner.replay.conversation import Conversation
from runner.replay.improvising import Said
from runner.replay.scenario import Faults, Scenario

_NONCE = re.compile(r"\[([0-9a-f]{16})\]")
_COUNT = re.compile(r"Count from 1 to (\d{1,6})\.")
_ARTICLE = re.compile(r"article (A\d{4})")
WRONG = "FINAL: something else"
CODE_SUFFIX = ".txt"
Solutions = Mapping[str, Mapping[str, str]]
"""By coding task: the files that solve it, by their paths."""


@dataclass(frozen=True)
class Instance:
    """One trial that the server may be asked for."""

    case: Case
    slot: Slot
    base_seed: int

    @cached_property
    def puzzle(self) -> Puzzle:
        """The instance itself, made when it is asked for."""
        return self.case.puzzle(self.base_seed, self.slot)


class Answering:
    """An improviser for one run.

    Args:
        manifest: the plan; a nonce of it that is not in it is answered from the prompt's own words.
        cases: its cases by id.
        solutions: of coding tasks; those without one are given up by the pretended agent.
    """

    def __init__(
        self, manifest: BenchManifest, cases: Mapping[str, Case], solutions: Solutions | None = None
    ) -> None:
        self._instances = _instances(manifest, cases)
        self._solutions = solutions or {}

    def __call__(self, _scenario: Scenario, conversation: Conversation, faults: Faults) -> Said | None:
        """What is said; None where the prompt is no case of the run."""
        nonce = _NONCE.search(conversation.heard)
        if nonce is None:
            return None
        instance = self._instances.get(nonce[1])
        if instance is not None and instance.case.coding is not None:
            return self._worked(instance.case.identifier, conversation)
        if _is_wrong(nonce[1], faults.wrong):
            return Said(WRONG)
        return _from_words(conversation) if instance is None else _right(instance, conversation)

    def _worked(self, task: str, conversation: Conversation) -> Said:
        """An agent that looks, writes what it knows, runs the tests, and says that it is done."""
        files = list(self._solutions.get(task, {}).items())
        steps: list[tuple[str, dict[str, str]]] = [("list_files", {})]
        steps += [("write_file", {"path": path, "content": text}) for path, text in files]
        steps.append(("run_tests", {}))
        if conversation.tool_results >= len(steps):
            return Said("Done.")
        name, arguments = steps[conversation.tool_results]
        return Said("", ((name, json.dumps(arguments)),))


def _instances(manifest: BenchManifest, cases: Mapping[str, Case]) -> dict[str, Instance]:
    settings, found = manifest.settings, {}
    for planned in manifest.planned:
        case, slot = cases[planned.case], slot_of(planned.slot)
        salt = settings.salt if planned.stage is None else f"{settings.salt}|{planned.stage}"
        found[case.nonce(salt, slot).strip("[]")] = Instance(case, slot, settings.seed)
    return found


def _is_wrong(nonce: str, percent: int) -> bool:
    """Whether an instance is among those that are to be answered wrong; the same ones every time."""
    return int(hashlib.sha256(nonce.encode()).hexdigest()[:8], 16) % 100 < percent


def _right(instance: Instance, conversation: Conversation) -> Said:
    case, puzzle = instance.case, instance.puzzle
    special = _SPECIAL.get(case.identifier)
    if special is not None:
        return special(puzzle, conversation)
    if puzzle.tools and case.identifier == tool_use.NO_CALL.identifier:
        return Said(f"FINAL: {puzzle.expected}")
    if case.category in {"streaming", "load", "prefill"}:
        return _from_words(conversation)
    return Said(f"I worked it out.\nFINAL: {puzzle.expected}")


def _from_words(conversation: Conversation) -> Said:
    """Numbers where a count is asked for, the last password where one is, else a word."""
    count = _COUNT.search(conversation.heard)
    if count is not None:
        numbers = " ".join(str(number) for number in range(1, int(count[1]) + 1))
        return Said(f"{streaming.MARKER} {numbers}")
    before, asked, password = conversation.heard.rpartition(":")
    if asked and (ASKED[:-1] in before or "nothing else" in before):
        return Said(password.strip().splitlines()[0])
    return Said("FINAL: noted")


def _single(_puzzle: Puzzle, _conversation: Conversation) -> Said:
    return Said("", ((tool_use.TRACK.name, json.dumps({"parcel": "P-7730"})),))


def _parallel(puzzle: Puzzle, _conversation: Conversation) -> Said:
    towns = puzzle.expected.split(", ")
    return Said("", tuple((tool_use.TEMPERATURE.name, json.dumps({"town": town})) for town in towns))


def _round_trip(puzzle: Puzzle, conversation: Conversation) -> Said:
    article = _ARTICLE.search(conversation.heard)
    if conversation.tool_results or article is None:
        return Said(f"FINAL: {puzzle.expected}")
    return Said("", ((tool_use.STOCK.name, json.dumps({"article": article[1]})),))


def _json(puzzle: Puzzle, _conversation: Conversation) -> Said:
    return Said(puzzle.expected)


def _confident(puzzle: Puzzle, _conversation: Conversation) -> Said:
    return Said(f"FINAL: {puzzle.expected} | 0.9")


def _listed(puzzle: Puzzle, _conversation: Conversation) -> Said:
    return Said(f"FINAL: {puzzle.expected}")


_SPECIAL: Mapping[str, Callable[[Puzzle, Conversation], Said]] = {
    tool_use.SINGLE.identifier: _single,
    tool_use.PARALLEL.identifier: _parallel,
    tool_use.ROUND_TRIP.identifier: _round_trip,
    structured.EXTRACTION.identifier: _json,
    structured.SCHEMA_OBJECT.identifier: _json,
    language.CALIBRATION.identifier: _confident,
    dialogue.GUEST_LIST.identifier: _listed,
}


def read_solutions(folder: Path) -> Solutions:
    """Solutions laid out as ``<task>/<path>``, code with ``.txt`` after its name; none without a folder."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("*/**/*")):
        if path.is_file():
            task, *parts = path.relative_to(folder).parts
            name = "/".join(parts).removesuffix(CODE_SUFFIX)
            found.setdefault(task, {})[name] = path.read_text(encoding="utf-8")
    return found
