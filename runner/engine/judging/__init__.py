"""How stored trials are judged: who, in which place, and what is kept of it."""

from runner.engine.judging.bench import Bench, open_bench
from runner.engine.judging.probe import probe
from runner.engine.judging.settings import JudgeSettings, read_judge_settings
from runner.engine.judging.trial import Judged, judge_trial

__all__ = [
    "Bench",
    "JudgeSettings",
    "Judged",
    "judge_trial",
    "open_bench",
    "probe",
    "read_judge_settings",
]
