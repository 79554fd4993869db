"""Judging choice: which judges score the finished trials of a run, and when, as the settings say."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from runner.engine.isolation import Isolation
from runner.engine.judging.beside import open_panel
from runner.engine.judging.probe import JudgeProbe
from runner.engine.judging_queue import Judging
from runner.engine.places import Places
from runner.engine.settings import RunSettings
from runner.errors import UsageError
from runner.store import ResultsStore


def wants_judges(settings: RunSettings) -> bool:
    """Whether finished trials are to be judged.

    Raises:
        UsageError: a mode needs a judge.
    """
    if settings.judge_mode == "skip" or not (settings.judge or settings.judge_mode):
        return False
    if not settings.judge:
        raise UsageError(f"--judge-mode {settings.judge_mode} needs a judge", remedy="name one with --judge")
    return True


@contextmanager
def chosen_judging(
    settings: RunSettings,
    store: ResultsStore,
    places: Places,
    environment: Mapping[str, str],
    *,
    isolation: Isolation,
    stop: threading.Event,
) -> Iterator[Judging | None]:
    """How the finished trials in ``store`` are judged; None where they are not.

    Raises:
        ConfigurationError: a judge is not to be had.
        UsageError: a mode needs a judge, or there is no such judge.
    """
    if not wants_judges(settings):
        yield None
        return
    with open_panel(settings.judge, store, places, environment, isolation=isolation, stop=stop) as panel:
        yield Judging(
            panel.judge,
            panel.is_judged,
            settings.judge_mode or "async",
            settings.judge_concurrency,
            panel.spent,
        )


def judge_probe(settings: RunSettings, places: Places, environment: Mapping[str, str]) -> JudgeProbe | None:
    """What the pre-flight asks the judges of a run; None where it has none."""
    if settings.judge_mode == "skip" or not settings.judge:
        return None
    return JudgeProbe(settings.judge, places, environment, budget=settings.budget_usd is not None)
