"""Judging choice: which judges score the finished trials of a run, and when, as the settings say."""

from __future__ import annotations

from runner.engine.judging_queue import Judging
from runner.engine.settings import RunSettings
from runner.errors import UsageError
from runner.store import ResultsStore


def chosen_judging(settings: RunSettings, store: ResultsStore) -> Judging | None:  # noqa: ARG001
    """How the finished trials in ``store`` are judged; None where they are not.

    Raises:
        UsageError: a mode needs a judge, or there is no such judge.
    """
    if settings.judge_mode == "skip" or not (settings.judge or settings.judge_mode):
        return None
    if not settings.judge:
        raise UsageError(f"--judge-mode {settings.judge_mode} needs a judge", remedy="name one with --judge")
    raise UsageError(f"there is no judge {', '.join(settings.judge)}", remedy="leave --judge out")
