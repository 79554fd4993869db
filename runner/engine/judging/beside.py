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
from runner.engine.judging.trial import judge_trial, settle, wanted_numbers
from runner.engine.places import Places
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
        """Make every judgement of a stored trial that is wanted; what failed or is unscored, or None."""
        failed = []
        for bench in self.benches:
            for number in self._wanted(bench, identity):
                try:
                    judged = judge_trial(bench, self.store, identity, number)
                except (HarnessmarkError, OSError) as error:
                    failed.append(f"{bench.settings.label}: {' '.join(str(error).split())}")
                    continue
                record = judged.record
                if record is not None and record.status is JudgementStatus.INVALID:
                    failed.append(f"{bench.settings.label}: {record.invalid_reason}")
        return "; ".join(failed) or None

    def is_judged(self, identity: TrialIdentity) -> bool:
        """Whether the store holds every judgement that is wanted of a trial."""
        return not any(self._wanted(bench, identity) for bench in self.benches)

    def _wanted(self, bench: Bench, identity: TrialIdentity) -> list[int]:
        settings = bench.settings
        try:
            rubric = rubric_for(identity.cell.skill, settings.rubric)
        except UsageError:
            return []
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
