"""Unjudged: finished trials of a plan that its judges have still to score."""

from __future__ import annotations

from collections.abc import Mapping

from runner.engine.judging.journal import Journal
from runner.engine.judging.probe import named
from runner.engine.judging.settings import JudgeSettings, read_judge_settings
from runner.engine.judging.subject import Refused, subject_of
from runner.engine.judging.trial import journals, wanted_numbers
from runner.engine.judging_choice import wants_judges
from runner.engine.places import Places
from runner.engine.settings import changed, settings_from_strings
from runner.engine.tally import stored_trials
from runner.errors import HarnessmarkError
from runner.judges.registry import judge
from runner.judges.rubric import rubric_for
from runner.records import PlanRecord
from runner.store import ResultsStore, StoredTrial


def unjudged(
    plan: PlanRecord, store: ResultsStore, places: Places, flags: Mapping[str, object] | None = None
) -> int:
    """How many trials of ``plan`` are in the store and lack a judgement that the plan wants.

    A trial that no judge may score, as our side failed in it or its task has changed, lacks none.

    Args:
        flags: settings that were given beside those of the plan, such as other judges.
    """
    judges = _judges(plan, places, flags or {})
    return sum(
        any(_lacks(stored, settings, places) for settings in judges)
        for _, stored in (stored_trials(plan, store) if judges else ())
    )


def unsettled(plan: PlanRecord, store: ResultsStore, places: Places) -> bool:
    """Whether a killed runner had written a judgement that ``plan`` wants, and may not have listed it."""
    finished = [record for journal in Journal.all_in(journals(places)) if (record := journal.finished())]
    keys = {planned.identity.key for planned in plan.trials} if finished else set()
    left = [record for record in finished if record.trial.key in keys]
    labels = {settings.label for settings in _judges(plan, places, {})} if left else set()
    return any(record.judge.name in labels and store.has_judgement(record) for record in left)


def _judges(plan: PlanRecord, places: Places, flags: Mapping[str, object]) -> list[JudgeSettings]:
    """The judges of the plan; none where one of them is not to be had here, for then nothing can go on."""
    try:
        wanted = changed(settings_from_strings(plan.settings)[0], flags)
        names = wanted.judge if wants_judges(wanted) else ()
        return [read_judge_settings(*named(name, places, {})) for name in names]
    except HarnessmarkError:
        return []


def _lacks(stored: StoredTrial, settings: JudgeSettings, places: Places) -> bool:
    if judge(settings.judge).demonstration and not stored.record.demonstration:
        return False
    try:
        rubric = rubric_for(stored.record.identity.cell.skill, settings.rubric).identity
        if not wanted_numbers(stored, settings.label, rubric, settings.repeats, only_missing=False):
            return False
        subject_of(stored, places.datasets, settings.rubric)
    except (HarnessmarkError, Refused):
        return False
    return True
