"""The status of a plan tells the truth at every moment of a killed, resumed, stopped and failing matrix."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from runner.engine.places import Places
from runner.engine.quarantine import Quarantine
from runner.engine.status import Status, status_of
from runner.records import PlanRecord
from runner.store import ResultsStore, verify
from runner.store.layout import TRIALS
from tests.engine.conftest import made
from tests.engine.puppets import PATIENCE, End, Theatre, new_plan
from tests.engine.turns import plan_faults

ENDS = st.builds(
    End,
    outcome=st.sampled_from(["completed", "completed", "incomplete", "model_error", "infrastructure"]),
    usd=st.sampled_from([None, 0.0, 0.25, 1.5]),
    passes=st.sampled_from([None, True, False]),
    holds_a_secret=st.sampled_from([False, False, False, True]),
)
EVENTS = st.one_of(
    st.tuples(st.just("end"), st.integers(0, 9), ENDS),
    st.tuples(st.just("end and kill"), st.integers(0, 9), ENDS),
    st.tuples(st.just("kill")),
    st.tuples(st.just("stop")),
    st.tuples(st.just("cancel")),
    st.tuples(st.just("new runner"), st.booleans(), st.booleans()),
)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """One project for all plays; each has a plan of its own. In the end its store is whole."""
    places = made(tmp_path_factory.mktemp("theatre") / "project")
    yield places
    assert verify(places.results) == []


@dataclass
class Play:
    """One plan, its runners, and what must be true of its status."""

    places: Places
    plan: PlanRecord
    store: ResultsStore
    theatre: Theatre

    def status(self) -> Status:
        """The status now, with what must hold at any moment whatever."""
        status = status_of(self.plan, self.store, self.places, datetime.now(UTC))
        assert status.planned == len(self.plan.trials)
        assert status.done + len(status.running) + status.held + status.left == status.planned
        assert len({each.position for each in status.running}) == len(status.running)
        assert sum(status.outcomes.values()) == status.done
        assert (status.resume is None) == (status.runner.is_alive or status.done == status.planned)
        if not status.runner.is_alive:
            assert status.running == ()
        return status

    def settled(self) -> Status:
        """The status once it shows every trial that has begun and no other, or nobody is at work."""
        deadline = time.monotonic() + PATIENCE
        while True:
            self.theatre.hear(0.005)
            if not self.theatre.is_alive:
                self.theatre.gone()
                return self.checked()
            status = self.checked()
            if self.theatre.lines and {each.position for each in status.running} == self.theatre.lines.keys():
                return status
            assert time.monotonic() < deadline, (status, self.theatre.lines.keys())

    def checked(self) -> Status:
        """The status beside the records themselves, read without the code that it is made with."""
        deadline = time.monotonic() + PATIENCE
        while True:
            was_gone = not self.theatre.is_alive
            mine, held = self.records(), self.held()
            status = self.status()
            # A runner may store a trial between two looks: only what stood still can be compared.
            if (mine, held) == (self.records(), self.held()):
                # A runner may be killed between storing a held trial and forgetting it: it is done.
                held -= {record["position"] for record in mine}
                break
            assert time.monotonic() < deadline
        amounts = [record["costs"][0]["amount_usd"] for record in mine]
        assert status.done == len(mine)
        assert status.spent_usd == pytest.approx(sum(amount or 0.0 for amount in amounts))
        assert status.unpriced == amounts.count(None)
        assert status.outcomes == Counter(record["outcome"] for record in mine)
        assert status.held == len(held)
        assert not (was_gone and status.runner.is_alive)
        return status

    def records(self) -> list[dict[str, Any]]:
        """The plan's trials in the store, as they lie there; one that a kill left half made is none."""
        trials = self.places.results / TRIALS
        found = [json.loads(path.read_bytes()) for path in sorted(trials.rglob("trial.json"))]
        return [record for record in found if record["plan_id"] == self.plan.plan_id]

    def held(self) -> set[int]:
        """The positions of the plan's trials that lie in quarantine."""
        folder = self.places.quarantine / self.plan.plan_id
        return {
            number for number in range(len(self.plan.trials)) if (folder / f"{number}/trial.json").exists()
        }

    def written(self, position: int) -> None:
        """Wait until a trial that was told to end is in the store or in quarantine, or nobody can end it."""
        deadline = time.monotonic() + PATIENCE
        identity = self.plan.trials[position].identity
        quarantine = Quarantine(self.places.quarantine)
        while self.theatre.is_alive:
            if self.store.has_trial(identity) or quarantine.holds(self.plan.plan_id, position):
                return
            assert time.monotonic() < deadline
            self.status()

    def perform(self, event: tuple[object, ...]) -> None:
        """One event, where it can happen."""
        kind, theatre = event[0], self.theatre
        if kind == "new runner":
            if theatre.process is None:
                plan_faults(self.places, **({"refuses_b": "no memory"} if event[1] else {}))
                theatre.start(knows_the_secret=bool(event[2]))
        elif kind in {"end", "end and kill"} and theatre.lines:
            position = sorted(theatre.lines)[int(str(event[1])) % len(theatre.lines)]
            assert isinstance(event[2], End)
            theatre.end(position, event[2])
            if kind == "end":
                self.written(position)
            else:
                theatre.kill()
        elif kind == "kill":
            theatre.kill()
        elif kind in {"stop", "cancel"}:
            theatre.signal()
            if kind == "cancel":
                self.until_stopping()
                theatre.signal()
                theatre.gone()

    def until_stopping(self) -> None:
        """Wait until the runner says that it has heard, or is gone."""
        deadline = time.monotonic() + PATIENCE
        while self.theatre.is_alive and not self.status().runner.stopping:
            assert time.monotonic() < deadline

    def to_the_end(self) -> None:
        """A last runner for whom nothing goes wrong: it starts just what the status says is left."""
        self.theatre.kill()
        plan_faults(self.places)
        before = self.checked()
        self.theatre.started.clear()
        self.theatre.start(knows_the_secret=True)
        while self.theatre.is_alive:
            self.theatre.hear(0.005)
            for position in sorted(self.theatre.lines):
                self.theatre.end(position, End())
        self.theatre.gone()
        after = self.checked()
        assert len(set(self.theatre.started)) == len(self.theatre.started) == before.left
        assert (after.left, after.held, after.running) == (0, before.held, ())
        assert after.done == before.done + before.left
        assert after.runner.state == "ended"


# Making a failing play shorter would take longer than reading it.
@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@example(events=[("stop",), ("stop",), ("end", 0, End())], seed=0, shared=True)
@given(events=st.lists(EVENTS, min_size=2, max_size=12), seed=st.integers(0, 3), shared=st.booleans())
def test_the_status_is_true_whatever_happens(
    stage: Places, events: list[tuple[object, ...]], seed: int, shared: bool
) -> None:
    plan, store = new_plan(stage, models="free-a,free-c" if shared else "a,b", seed=seed)
    play = Play(stage, plan, store, Theatre(stage, plan.plan_id))
    try:
        assert play.status().runner.state == "none"
        play.perform(("new runner", False, True))
        for event in events:
            play.settled()
            play.perform(event)
        play.to_the_end()
    finally:
        play.theatre.close()
