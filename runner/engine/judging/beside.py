"""Beside: judges of a run's finished trials, for a run that has them judged while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from runner.engine.isolation import Isolation
from runner.engine.judging.bench import Bench, open_bench
from runner.engine.judging.probe import named
from runner.engine.judging.settings import read_judge_settings
from runner.engine.judging.subject import NOT_OURS
from runner.engine.judging.trial import judge_trial, settle, wanted_numbers
from runner.engine.places import Places
from runner.engine.spending import Spent, spent_on_judging
from runner.errors import HarnessmarkError, UsageError
from runner.judges.rubric import rubric_for
from runner.records import JudgementStatus, TrialIdentity
from runner.store import ResultsStore


@dataclass(frozen=True)
class Panel:
    """The judges of a run. Several threads may call it at once."""

    benches: tuple[Bench, ...]
    store: ResultsStore

    def judge(self, identity: TrialIdentity) -> str | None:
        """Make every judgement of a stored trial that is wanted; what failed or is unscored, or None.

        A trial in which our side failed is not judged, and its own outcome says so.
        """
        if self.store.trial(identity).record.outcome in NOT_OURS:
            return None
        failed = []
        for bench in self.benches:
            for reason in self._failures(bench, identity):
                failed.append(f"{bench.settings.label}: {' '.join(reason.split())}")
        return "; ".join(failed) or None

    def is_judged(self, identity: TrialIdentity) -> bool:
        """Whether the store holds every judgement that is wanted of a trial."""
        try:
            return not any(self._wanted(bench, identity) for bench in self.benches)
        except UsageError:
            return False

    def spent(self, identity: TrialIdentity) -> Spent:
        """What the judgements of a trial by these judges have cost that are in the store."""
        labels = {bench.settings.label for bench in self.benches}
        stored = self.store.trial(identity)
        return spent_on_judging(each for each in stored.judgements if each.judge.name in labels)

    def _failures(self, bench: Bench, identity: TrialIdentity) -> Iterator[str]:
        """Why judgements by one judge are not there, one after the other as they are made."""
        try:
            wanted = self._wanted(bench, identity)
        except UsageError as error:
            yield error.what
            return
        for number in wanted:
            try:
                judged = judge_trial(bench, self.store, identity, number)
            except (HarnessmarkError, OSError) as error:
                yield str(error)
                continue
            if judged.refused is not None:
                yield f"not judged: {judged.refused}"
                return
            if judged.record is not None and judged.record.status is JudgementStatus.INVALID:
                yield judged.record.invalid_reason or "no valid answer"

    def _wanted(self, bench: Bench, identity: TrialIdentity) -> list[int]:
        """Numbers of the judgements that are still to be made.

        Raises:
            UsageError: no rubric is for the trial's skill.
        """
        settings = bench.settings
        rubric = rubric_for(identity.cell.skill, settings.rubric)
        stored = self.store.trial(identity)
        return wanted_numbers(stored, settings.label, rubric.identity, settings.repeats, only_missing=False)


@contextmanager
def open_panel(
    judges: Sequence[str],
    store: ResultsStore,
    places: Places,
    environment: Mapping[str, str],
    *,
    isolation: Isolation | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Panel]:
    """Make every judge of a run ready.

    Args:
        judges: each a name, or a YAML file with the settings of a judge.
        stop: set to end the judges that are at work.

    Raises:
        ConfigurationError: a judge is not to be had; the remedy says why.
        UsageError: an unknown name, or two judges of one name.
    """
    settings = [read_judge_settings(*named(each, places, {})) for each in judges]
    labels = [each.label for each in settings]
    if len(set(labels)) < len(labels):
        raise UsageError(
            f"two judges would write under one name: {', '.join(labels)}", remedy="leave one of them out"
        )
    settle(places, store)
    with ExitStack() as stack:
        benches = [
            stack.enter_context(open_bench(each, places, environment, stop=stop, isolation=isolation))
            for each in settings
        ]
        yield Panel(tuple(benches), store)
