"""Desks: makes the place of work of each trial from what the run shares."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from runner.engine.desk import Desk
from runner.engine.isolation import Isolation
from runner.engine.places import Places
from runner.engine.planning import Group, by_cell
from runner.engine.pricing import listed
from runner.engine.resolution import as_served
from runner.engine.server_window import Crowd
from runner.engine.sessions import Sessions, common_protocol
from runner.engine.watching import Watching
from runner.providers.facts import count_warnings
from runner.records import PlannedTrial, PlanRecord
from runner.secrets import Scanner

Hear = Callable[[PlannedTrial, str, str | None], None]


class Either(threading.Event):
    """An event that is set by itself or with another one. Nobody waits for it; it is only looked at."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        """Whether one of both is set."""
        return super().is_set() or self._other.is_set()


@dataclass(frozen=True)
class Slot:
    """Held while an agent is at work; says so when it begins and when it ends."""

    slots: threading.Semaphore
    say: Callable[[Literal["at work", "done"]], None]

    def __enter__(self) -> None:
        self.slots.acquire()
        self.say("at work")

    def __exit__(self, *_: object) -> None:
        self.slots.release()
        self.say("done")


@dataclass
class Desks:
    """What all trials of a run share, as far as a trial needs it."""

    plan: PlanRecord
    groups: Sequence[Group]
    sessions: Sessions
    places: Places
    isolation: Isolation
    scanner: Scanner
    concurrency: int
    hear: Hear
    """Gets each line that a harness prints, with its trace in a few words."""
    sign: Callable[[int], None]
    """Gets the position of a trial whenever something is heard of it."""
    agent: Callable[[int, Literal["at work", "done"]], None]
    """Gets the position of a trial when its agent begins and ends."""
    may_start: Callable[[], bool]
    """Asked before an agent starts, once a slot is free."""
    watching: Watching
    """Knows the gauges of the models' servers."""
    _slots: threading.Semaphore = field(init=False)
    _crowd: Crowd = field(init=False, default_factory=Crowd)

    def __post_init__(self) -> None:
        self._group_of = by_cell(self.groups)
        self._slots = threading.Semaphore(self.concurrency)

    def desk(self, position: int, cancelled: threading.Event) -> Desk:
        """Everything the trial at ``position`` needs; its model must be reachable now."""
        planned = self.plan.trials[position]
        cell = planned.identity.cell
        group = self._group_of[cell.key]
        parts, settings = group.parts, as_served(group, cell.model.raw_id, self.places)
        harness, session = parts.harnesses[cell.harness], self.sessions.of(cell)
        protocol = common_protocol(harness, parts.provider, settings.protocol, cell.model.raw_id)

        hosting = settings.hosting or parts.provider.hosting
        model, free = cell.model.raw_id, self.plan.demonstration

        def on_line(text: str) -> None:
            """A line of the agent: a sign of life, and words for whoever watches."""
            self.sign(position)
            self.hear(planned, text, harness.trace(text))

        return Desk(
            planned=planned,
            position=position,
            plan_id=self.plan.plan_id,
            demonstration=self.plan.demonstration,
            hosting=hosting,
            listed=listed(self.places.prices, cell.provider, model, hosting, free=free),
            settings=settings,
            task=parts.dataset.task_by_id(planned.identity.task),
            dataset_path=parts.dataset_path,
            harness=harness,
            skill=parts.skills[cell.skill],
            endpoint=session.endpoint(
                protocol,
                run=f"{self.plan.plan_id}-{position}",
                scenario=f"{parts.dataset.scope}/{planned.identity.task}",
            ),
            folder=self.places.scratch(self.plan.plan_id, position),
            repositories=self.places.repositories,
            streams=self.places.streams,
            installed=self.places.harnesses,
            isolation=self.isolation,
            cancelled=cancelled,
            on_line=on_line,
            on_traffic=lambda: self.sign(position),
            scanner=self.scanner,
            slot=Slot(self._slots, partial(self.agent, position)),
            may_start=lambda: self.may_start() and not cancelled.is_set(),
            replaced=self.places.replaced(self.plan.plan_id, position),
            project=self.places.root,
            crowd=self._crowd,
            counters=session.counters,
            gauges=partial(self.watching.gauges, session, cell.model.raw_id),
            warnings=count_warnings(session, protocol),
        )
