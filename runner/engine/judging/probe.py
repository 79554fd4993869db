"""Probe: whether a judge could be asked now, for the pre-flight."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.engine.judging.bench import open_bench
from runner.engine.judging.settings import read_judge_settings
from runner.engine.places import Places
from runner.errors import HarnessmarkError
from runner.judges.direct import Direct
from runner.judges.registry import JUDGES
from runner.providers.checks import Check, CheckState

NAME = "judge answers"
SECONDS = 60.0


@dataclass(frozen=True)
class JudgeProbe:
    """The judges of a run, as the pre-flight asks them."""

    judges: tuple[str, ...]
    places: Places
    environment: Mapping[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        """As the user calls them."""
        return ", ".join(self.judges)

    def checks(self) -> Iterator[Check]:
        """One check for each."""
        for judge in self.judges:
            yield probe(judge, self.places, self.environment)


def probe(
    judge: str, places: Places, environment: Mapping[str, str], flags: Mapping[str, object] | None = None
) -> Check:
    """Look for the judge's program and ask its model for one word, which costs a handful of tokens.

    Args:
        judge: a name, or a YAML file with the settings of a judge.
        flags: settings beside it, as for ``read_judge_settings``.
    """
    try:
        settings = read_judge_settings(*named(judge, places, flags or {}))
        with open_bench(settings, places, environment) as bench:
            endpoint = bench.endpoint("judge-preflight", "judge-preflight/preflight")
            begun = time.monotonic()
            error = Direct().ready(endpoint, SECONDS)
            seconds = time.monotonic() - begun
            who = f"{settings.judge} {bench.version} with {settings.model} at {settings.provider}"
    except HarnessmarkError as failed:
        return Check(NAME, CheckState.FAIL, " ".join(failed.what.split()), failed.remedy)
    if error is not None:
        fix = "check model, address and key of the judge; invoke judge --dry-run shows its settings"
        return Check(NAME, CheckState.FAIL, f"{who}: {error}", fix)
    return Check(NAME, CheckState.PASS, f"{who} answered in {seconds:.1f} s")


def named(judge: str, places: Places, flags: Mapping[str, object]) -> tuple[Path | None, dict[str, object]]:
    """What a judge's name in a setting stands for: a file of settings, or a name beside other settings."""
    given = {name: value for name, value in flags.items() if value is not None}
    if judge not in JUDGES and ":" not in judge and judge.endswith((".yaml", ".yml")):
        path = Path(judge)
        return (path if path.is_absolute() else places.root / path), given
    return None, {**given, "judge": judge}
