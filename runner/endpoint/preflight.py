"""Pre-flight of a target: a few cheap requests that show whether it takes what a run will send."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

from runner.endpoint.acceptance import (
    LIMIT,
    TEMPERATURE,
    TOOL_CHOICE,
    Changes,
    OptionalPart,
    corrected,
    effort_said,
    named_in,
    other_limits,
    parts_of,
    without,
)
from runner.endpoint.admission import KEPT_OUT, Admission, admission_of, words_of
from runner.endpoint.ask import Ask
from runner.endpoint.request import AskRequest, Protocol
from runner.endpoint.result import Outcome, StreamResult
from runner.endpoint.suites.asking import NO_EFFORT, Manner, request_for, unfit
from runner.endpoint.suites.case import Case, Puzzle, Slot, user
from runner.endpoint.target import Target

MOST_REQUESTS = 20
MOST_SECONDS = 60.0
"""Of one request: an endpoint that thinks for longer over one word is not slow because of our parameters."""
PROMPT, SYSTEM_TEXT = "Say only the word ready.", "You answer in one word."
SALT = "pre-flight"
FIRST = Slot(1)

How = Literal["named", "left out"]


@dataclass(frozen=True)
class Finding:
    """One part that was refused.

    Args:
        how: whether the endpoint named it, or leaving it out showed it.
        words: what the endpoint said.
        changes: of the target's description, so that it is not sent any more, or in another way.
    """

    parameter: str
    how: How
    words: str
    changes: Changes


@dataclass
class Looked:
    """What came of the requests to one target.

    ``target`` is described as it was found to be. ``admission`` is why it cannot be asked at all, or
    accepted, or undecided.
    """

    target: Target
    admission: Admission = Admission.ACCEPTED
    words: str = ""
    status: int | None = None
    by_part: dict[str, Finding] = field(default_factory=dict)
    changes: dict[str, JsonValue] = field(default_factory=dict)
    """All changes together: later ones were made to a description that had the earlier ones."""
    notes: list[str] = field(default_factory=list)
    results: list[StreamResult] = field(default_factory=list)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was refused, in the order in which it was found."""
        return tuple(self.by_part.values())

    def note(self, text: str) -> None:
        """One remark, once."""
        if text not in self.notes:
            self.notes.append(text)


class OutOfRequests(Exception):
    """The bound of requests, time or money of one target's pre-flight is reached."""


@dataclass
class Preflight:
    """Looks at one target.

    Args:
        ask: one request; what it costs is for ``spent`` to know.
        spent: why no further request may be sent; empty while one may.
    """

    target: Target
    cases: Sequence[Case]
    manner: Manner
    ask: Ask
    spent: Callable[[Sequence[StreamResult]], str] = lambda _results: ""

    async def look(self) -> Looked:
        """Send what is needed until every part that the run will send was accepted, or is known not to be.

        The parameters are the run's own and the prompt is one sentence. Every further request has a part
        that none before it had.
        """
        looking = _Looking(self, Looked(self.target), _short(self.cases, self.manner.base_seed))
        try:
            while (shape := looking.next_shape()) is not None:
                await looking.settle(shape)
                if looking.found.admission in KEPT_OUT:
                    break
        except OutOfRequests as reason:
            looking.found.note(str(reason))
            if looking.refused:
                looking.found.admission = Admission.REFUSED
        return looking.found


Shape = tuple[Case, Puzzle]


@dataclass
class _Looking:
    asked: Preflight
    found: Looked
    shapes: tuple[Shape, ...]
    known: set[str] = field(default_factory=set)
    """Parts of which it is known that they are accepted, or that no request could decide it."""
    warm_at: set[str] = field(default_factory=set)
    """Efforts beside which a temperature was accepted."""
    tried: dict[str, list[Changes]] = field(default_factory=lambda: defaultdict(list))
    refused: bool = False

    def request(self, shape: Shape, target: Target | None = None) -> AskRequest:
        """The request of a case, with one sentence in place of its prompt."""
        case, puzzle = shape
        manner = self.asked.manner
        total = min(manner.deadlines.total or MOST_SECONDS, MOST_SECONDS)
        manner = replace(manner, deadlines=manner.deadlines.model_copy(update={"total": total}))
        target = target or self.found.target
        if not target.capabilities.tools:
            puzzle = replace(puzzle, tools=(), tool_choice=None)
        return request_for(case, puzzle, FIRST, target, manner).request

    def next_shape(self) -> Shape | None:
        """The case with the most parts that nobody has asked about; None where there is none."""
        fits = [s for s in self.shapes if not unfit(s[0], self.found.target, self.asked.manner.effort)]
        if not fits:
            return None
        new = {id(shape): len(self._marks(shape) - self.known) for shape in fits}

        def worth(shape: Shape) -> tuple[int, bool, int]:
            """The larger, the sooner it is asked: new parts, without an effort, with more room to answer."""
            request = self.request(shape)
            # Without thinking first: what is accepted there may be refused beside an effort, not the reverse.
            plain = effort_said(request, self.found.target.capabilities) in {None, NO_EFFORT}
            return new[id(shape)], plain, request.max_output_tokens or 0

        best = max(fits, key=worth)
        return best if new[id(best)] else None

    def _marks(self, shape: Shape) -> set[str]:
        request, can = self.request(shape), self.found.target.capabilities
        effort = effort_said(request, can) or ""
        marks = {part.label for part in parts_of(request, can)} | {"itself"}
        return marks | ({f"temperature at {effort}"} if request.temperature is not None else set())

    async def send(self, request: AskRequest) -> StreamResult:
        """One request, within the bounds."""
        why = self.asked.spent(self.found.results)
        if not why and len(self.found.results) >= MOST_REQUESTS:
            why = f"{MOST_REQUESTS} requests did not show what the endpoint accepts"
        if why:
            raise OutOfRequests(why)
        result = await self.asked.ask(request)
        self.found.results.append(result)
        return result

    async def settle(self, shape: Shape) -> None:
        """Ask in the manner of ``shape``, leaving out what is refused, until an answer comes."""
        while True:
            request = self.request(shape)
            parts = parts_of(request, self.found.target.capabilities)
            result = await self.send(request)
            named = named_in(words_of(result), parts)
            admission = admission_of(result, names_a_part=bool(named))
            if admission is Admission.UNREACHABLE and len(self.found.results) == 1:
                continue
            self.refused = admission is Admission.REFUSED
            if admission is Admission.ACCEPTED:
                self._accepted(shape, request, result)
                return
            self.found.words, self.found.status = words_of(result), result.http_status
            if admission is not Admission.REFUSED:
                self._given_up(shape, admission, result)
                return
            if named:
                self._leave_out(named[0], request, "named")
                continue
            culprits = await self._culprits(shape, parts)
            if not culprits:
                self.found.admission = Admission.REFUSED
                return
            for part in culprits:
                self._leave_out(part, request, "left out")

    def _accepted(self, shape: Shape, request: AskRequest, result: StreamResult) -> None:
        self.known |= self._marks(shape)
        self.found.words, self.found.status = "", None
        if request.temperature is not None:
            self.warm_at.add(effort_said(request, self.found.target.capabilities) or "")
        if result.streamed is False:
            self.found.note("it does not stream: the answer came as one body, so no time inside it is known")
        if result.outcome is not Outcome.INCOMPLETE and result.usage is None:
            self.found.note("it tells no token counts: costs and token rates will be unknown")

    def _given_up(self, shape: Shape, admission: Admission, result: StreamResult) -> None:
        if admission is not Admission.UNDECIDED:
            self.found.admission = admission
            return
        self.known |= self._marks(shape)
        said = f"{result.outcome.value}{f' {result.http_status}' if result.http_status else ''}"
        self.found.note(f"one request was not decided: {said}; the run itself will show it")

    def _leave_out(self, part: OptionalPart, request: AskRequest, how: How) -> None:
        """Change the description so that ``part`` is gone, or is said in a way that was not tried yet."""
        if part.name == LIMIT and not self.tried[LIMIT]:
            self.tried[LIMIT].append({"max_output_key": request.max_output_key})
        changes = self._changes(part, request, how)
        self.tried[part.name].append(changes)
        self.found.target = corrected(self.found.target, changes)
        self.found.changes |= changes
        key = part.name if part.name == LIMIT else part.label
        before = self.found.by_part.get(key)
        self.found.by_part[key] = Finding(
            part.label if before is None else before.parameter,
            how,
            self.found.words,
            changes if before is None else {**before.changes, **changes},
        )

    def _changes(self, part: OptionalPart, request: AskRequest, how: How) -> Changes:
        can = self.found.target.capabilities
        if part.name == LIMIT:
            words = self.found.words if how == "named" else ""
            ways = (way for way in other_limits(request, words) if way not in self.tried[LIMIT])
            return next(ways, without(part, can))
        if part.name == TEMPERATURE and self.warm_at - {""} and not self.tried[TEMPERATURE]:
            # Accepted beside other efforts: only there it is sent.
            return {"temperature_at_efforts": [*sorted(self.warm_at - {""})]}
        return without(part, can)

    async def _culprits(self, shape: Shape, parts: Sequence[OptionalPart]) -> list[OptionalPart]:
        """The parts without which the request is accepted; none where it is refused without any of them."""
        if not parts or not await self._accepts(shape, []):
            return []
        found: list[OptionalPart] = []
        fine: list[OptionalPart] = []
        await self._split(shape, list(parts), fine, found, known_bad=True)
        return found

    async def _split(
        self,
        shape: Shape,
        parts: list[OptionalPart],
        fine: list[OptionalPart],
        found: list[OptionalPart],
        *,
        known_bad: bool,
    ) -> None:
        """Sort ``parts`` into those that are accepted beside ``fine``, and those that are not."""
        names = {part.name for part in found}
        if "tools" in names:
            parts = [part for part in parts if part.name != TOOL_CHOICE]
        if not parts:
            return
        if not known_bad and await self._accepts(shape, [*fine, *parts]):
            fine += parts
            return
        if len(parts) == 1:
            found += parts
            return
        half, before = len(parts) // 2, len(found)
        await self._split(shape, parts[:half], fine, found, known_bad=False)
        # Where the first half is fine, the fault that both have must be in the second.
        await self._split(shape, parts[half:], fine, found, known_bad=len(found) == before)

    async def _accepts(self, shape: Shape, kept: Sequence[OptionalPart]) -> bool:
        """Whether the request is accepted with no optional parts but these."""
        names, target = {part.name for part in kept}, self.found.target
        for _ in range(MOST_REQUESTS):
            request = self.request(shape, target)
            more = [
                part
                for part in parts_of(request, target.capabilities)
                if part.name not in names
                and not (part.name == LIMIT and request.protocol is Protocol.MESSAGES)
            ]
            if not more:
                break
            target = corrected(target, without(more[-1], target.capabilities))
        result = await self.send(self.request(shape, target))
        admission = admission_of(result, names_a_part=False)
        if admission is Admission.UNDECIDED:
            raise OutOfRequests("an answer between two refusals was not decided")
        return admission is Admission.ACCEPTED


def _short(cases: Iterable[Case], base_seed: int) -> tuple[Shape, ...]:
    """Every case with one sentence in place of its prompt; its tools and its schema stay."""
    found = []
    for case in cases:
        puzzle = case.puzzle(base_seed, FIRST)
        system = None if puzzle.system is None else SYSTEM_TEXT
        found.append((case, replace(puzzle, messages=(user(PROMPT),), system=system, follow=None)))
    return tuple(found)
