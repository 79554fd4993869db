"""Catalogue: the suites and the profiles, and the cases that stand in each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from runner.costs.yaml_faults import nearest
from runner.endpoint.suites import dialogue, grounding, language, reasoning, streaming, structured, tool_use
from runner.endpoint.suites.case import Case
from runner.endpoint.suites.coding.cases import CODING_CASES
from runner.endpoint.suites.coding.functions import FUNCTION
from runner.endpoint.suites.puzzles_algorithms import ALGORITHM_CASES
from runner.endpoint.suites.puzzles_logic import LOGIC_CASES
from runner.endpoint.suites.puzzles_numbers import NUMBER_CASES
from runner.errors import UsageError

SMOKE_CASES = (
    reasoning.SHORTEST_PATH,
    reasoning.PARAPHRASE,
    structured.EXTRACTION,
    grounding.UNKNOWN,
    grounding.HIERARCHY,
    tool_use.SINGLE,
    streaming.FIXED_OUTPUT,
)
CAPABILITY_CASES = (
    reasoning.SHORTEST_PATH,
    reasoning.PARAPHRASE,
    reasoning.DISTRACTOR,
    structured.EXTRACTION,
    structured.SCHEMA_OBJECT,
    grounding.KNOWN,
    grounding.UNKNOWN,
    grounding.HIERARCHY,
    grounding.NEEDLES,
    tool_use.SINGLE,
    tool_use.PARALLEL,
    tool_use.ROUND_TRIP,
    tool_use.NO_CALL,
    dialogue.GUEST_LIST,
    language.GERMAN,
    reasoning.FALSE_CRITIQUE,
    language.CALIBRATION,
    *reasoning.EFFORT_CASES,
)
PUZZLE_CASES = (*NUMBER_CASES, *ALGORITHM_CASES, *LOGIC_CASES)
LOAD_CASES = (*streaming.OUTPUT_CASES, *streaming.INPUT_CASES, *streaming.LEVEL_CASES)
CONSISTENCY_REPEATS = 3
"""How often the standard profile asks the first instance of the cases that stand for their dimension."""
_REPEATED = frozenset(
    {
        reasoning.SHORTEST_PATH.identifier,
        structured.EXTRACTION.identifier,
        grounding.UNKNOWN.identifier,
        grounding.HIERARCHY.identifier,
        tool_use.SINGLE.identifier,
    }
)
SUITES: dict[str, tuple[Case, ...]] = {
    "capability": CAPABILITY_CASES,
    "quality": (*CAPABILITY_CASES, *PUZZLE_CASES),
    "performance": (streaming.FIXED_OUTPUT, *streaming.OUTPUT_CASES, *streaming.INPUT_CASES),
    "load": LOAD_CASES,
    "coding": (FUNCTION, *CODING_CASES),
    "core": SMOKE_CASES,
}


@dataclass(frozen=True)
class Profile:
    """A ready-made choice of cases. The budget is one target's, in seconds; load levels have their own."""

    name: str
    summary: str
    cases: tuple[Case, ...]
    budget_seconds: float
    sweep_budget_seconds: float | None = None

    @property
    def planned(self) -> tuple[int, int]:
        """Measured trials and warm-ups for one target if nothing is cut."""
        slots = [slot for case in self.cases for slot in case.slots()]
        return sum(not slot.warm_up for slot in slots), sum(slot.warm_up for slot in slots)


def _repeated(case: Case) -> Case:
    return replace(case, repeats=CONSISTENCY_REPEATS) if case.identifier in _REPEATED else case


PROFILES: dict[str, Profile] = {
    "smoke": Profile("smoke", "Does it work at all, and how fast is it?", SMOKE_CASES, 60),
    "standard": Profile(
        "standard",
        "All capabilities, fifteen hard puzzles, and consistency on repeats.",
        (*map(_repeated, CAPABILITY_CASES), *PUZZLE_CASES, streaming.FIXED_OUTPUT),
        600,
    ),
    "load": Profile("load", "Long outputs, long inputs, and many at once.", LOAD_CASES, 300, 600),
    "coding": Profile("coding", "An agent with tools on small repositories.", CODING_CASES, 1800),
}


def profile_of(name: str) -> Profile:
    """The profile called ``name``.

    Raises:
        UsageError: there is none.
    """
    if name not in PROFILES:
        raise UsageError(
            f"there is no profile {name!r}{nearest(name, PROFILES)}", remedy=f"known: {', '.join(PROFILES)}"
        )
    return PROFILES[name]


def suite_of(name: str) -> tuple[Case, ...]:
    """The cases of the suite called ``name``.

    Raises:
        UsageError: there is none.
    """
    if name not in SUITES:
        raise UsageError(
            f"there is no suite {name!r}{nearest(name, SUITES)}", remedy=f"known: {', '.join(SUITES)}"
        )
    return SUITES[name]


def narrowed(cases: Sequence[Case], wanted: Iterable[str]) -> tuple[Case, ...]:
    """Those of ``cases`` that are named, in their own order; all of them where none is.

    Raises:
        UsageError: names that are no case of these, or given twice.
    """
    names = list(wanted)
    if not names:
        return tuple(cases)
    known = {case.identifier for case in cases}
    faults = [f"{name!r} is no case here{nearest(name, known)}" for name in names if name not in known]
    faults += [f"{name!r} is given twice" for name in sorted(set(names)) if names.count(name) > 1]
    if faults:
        raise UsageError("; ".join(faults), remedy=f"known: {', '.join(sorted(known))}")
    return tuple(case for case in cases if case.identifier in names)


def require_unique_cases(cases: Sequence[Case]) -> None:
    """Refuse cases of the same id, or none at all.

    Raises:
        UsageError: says which.
    """
    if not cases:
        raise UsageError("there are no cases to ask")
    names = [case.identifier for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"cases of the same id: {', '.join(twice)}")
