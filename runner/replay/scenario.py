"""Scenario: which run, dataset, task and faults a request's path prefix asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import unquote

FAULT_HELP = (
    "e<status>, slow<milliseconds>, pace<milliseconds>, retryafter<seconds>, hang, stall, cut, malformed, "
    "nousage, nocache, lump, limit, noend, fragment, think<tokens>, wrong<percent>; "
    "with first<K>- before it only for the first K requests of a run, with every<K>- only for each K-th, "
    "with late- only after a tool result"
)
PATH_HELP = (
    "it must read /r/<run>/<dataset>/<task>[/<fault>...] and then the usual path, such as /v1/messages"
)
HOSTED_ROOTS = {"anthropic", "openai"}
"""What a cloud puts before the paths of a vendor's own API."""
API_ROOTS = {"v1", "v1beta", "v1alpha", "model", "health", "metrics"}
FAULT = re.compile(
    r"(?:first(?P<first>\d{1,4})-|every(?P<every>[1-9]\d{0,3})-|(?P<late>late-))?"
    r"(?:e(?P<status>[45]\d\d)|slow(?P<slow>\d{1,6})|pace(?P<pace>\d{1,5})|retryafter(?P<after>\d{1,5})"
    r"|think(?P<think>\d{1,5})|wrong(?P<wrong>\d{1,3})"
    r"|(?P<plain>hang|stall|cut|malformed|nousage|nocache|lump|limit|noend|fragment))"
)


class ScenarioError(ValueError):
    """The path names no scenario, or a fault that does not exist. The text goes back to the client."""


@dataclass(frozen=True)
class Faults:
    """What goes wrong with one request."""

    status: int | None = None
    delay_seconds: float = 0.0
    pace_seconds: float = 0.0
    """Pause before every event of a stream but the first."""
    retry_after: int = 1
    hang: bool = False
    """Accept the request and never answer."""
    stall: bool = False
    """Begin an answer and fall silent."""
    cut: bool = False
    """Close the connection in the middle of an answer."""
    malformed: bool = False
    """Send an event that is no JSON, then close."""
    no_usage: bool = False
    no_cache_detail: bool = False
    lump: bool = False
    """Hold all pieces back and send them at once when the last one is due, as a buffering proxy does."""
    limit: bool = False
    """Break off in the middle and say that the limit of tokens was reached."""
    noend: bool = False
    """End the stream properly, but without a finish reason and without an end mark."""
    fragment: bool = False
    """Send text and arguments in pieces of a few characters, the call's id in each."""
    think: int = 0
    """Tokens of reasoning before an improvised answer."""
    wrong: int = 0
    """Percent of improvised answers that are wrong."""

    @property
    def breaks_off(self) -> bool:
        """Whether an answer begins and does not end."""
        return self.cut or self.malformed or self.stall


@dataclass(frozen=True)
class FaultRule:
    """One fault and when it applies."""

    name: str
    faults: Faults
    first: int | None = None
    late: bool = False
    every: int | None = None

    def applies(self, request_number: int, tool_results: int) -> bool:
        """Whether the rule holds for the ``request_number``-th request of a run, counted from 0."""
        if self.first is not None:
            return request_number < self.first
        if self.every is not None:
            return (request_number + 1) % self.every == 0
        return not self.late or tool_results > 0


def parse_fault(text: str) -> FaultRule:
    """The rule that ``text`` names, such as ``first2-e500``.

    Raises:
        ScenarioError: there is no such fault.
    """
    match = FAULT.fullmatch(text)
    if match is None:
        raise ScenarioError(f"unknown fault {text!r}; faults are {FAULT_HELP}")
    if match["status"]:
        faults = Faults(status=int(match["status"]))
    elif match["slow"]:
        faults = Faults(delay_seconds=int(match["slow"]) / 1000)
    elif match["pace"]:
        faults = Faults(pace_seconds=int(match["pace"]) / 1000)
    elif match["after"]:
        faults = Faults(retry_after=int(match["after"]))
    elif match["think"]:
        faults = Faults(think=int(match["think"]))
    elif match["wrong"]:
        faults = Faults(wrong=int(match["wrong"]))
    else:
        names = {"nousage": "no_usage", "nocache": "no_cache_detail"}
        faults = replace(Faults(), **{names.get(match["plain"], match["plain"]): True})
    return FaultRule(
        text,
        faults,
        first=int(match["first"]) if match["first"] else None,
        late=bool(match["late"]),
        every=int(match["every"]) if match["every"] else None,
    )


def active_faults(rules: tuple[FaultRule, ...], request_number: int, tool_results: int) -> Faults:
    """The faults of all rules that apply, merged; where two set the same thing the later one wins."""
    merged = Faults()
    for rule in rules:
        if rule.applies(request_number, tool_results):
            changed = {
                name: value for name, value in vars(rule.faults).items() if value != getattr(Faults(), name)
            }
            merged = replace(merged, **changed)
    return merged


@dataclass(frozen=True)
class Scenario:
    """Where a request belongs, and the API path that is left once the prefix is taken off."""

    run: str
    dataset: str
    task: str
    rules: tuple[FaultRule, ...]
    api_path: str


def parse_path(path: str) -> Scenario:
    """The scenario in ``/r/<run>/<dataset>/<task>[/<fault>...]`` and the API path after it.

    Raises:
        ScenarioError: says which part is missing or unknown.
    """
    segments = [unquote(part) for part in path.split("/")[1:]]
    roots = [index for index, part in enumerate(segments) if index > 0 and part in API_ROOTS]
    if not segments or segments[0] != "r" or not roots:
        raise ScenarioError(f"no scenario in the path {path[:200]!r}; {PATH_HELP}")
    prefix = segments[1 : roots[-1]]
    if len(prefix) > 3 and prefix[-1] in HOSTED_ROOTS:
        prefix.pop()
    for position, part in enumerate(("run", "dataset", "task")):
        if len(prefix) <= position or not prefix[position]:
            raise ScenarioError(f"the {part} is missing in the path {path[:200]!r}; {PATH_HELP}")
    return Scenario(
        run=prefix[0],
        dataset=prefix[1],
        task=prefix[2],
        rules=tuple(parse_fault(part) for part in prefix[3:]),
        api_path="/" + "/".join(segments[roots[-1] :]),
    )
