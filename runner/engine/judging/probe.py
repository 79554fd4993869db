"""Probe: whether a judge could be asked now, for the pre-flight."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from runner.engine.judging.bench import open_bench
from runner.engine.judging.settings import read_judge_settings
from runner.engine.places import Places
from runner.engine.pricing import listed
from runner.errors import HarnessmarkError
from runner.harnesses.base import ReportsDollars
from runner.judges.direct import Direct
from runner.judges.registry import JUDGES
from runner.judges.registry import judge as find_judge
from runner.providers.checks import Check, CheckState
from runner.providers.registry import provider

NAME = "judge answers"
PRICE = "judge price"
SECONDS = 60.0


@dataclass(frozen=True)
class JudgeProbe:
    """The judges of a run, as the pre-flight asks them."""

    judges: tuple[str, ...]
    places: Places
    environment: Mapping[str, str] = field(repr=False)
    budget: bool = False
    """Whether the run may spend so many dollars only, those of its judges among them."""

    @property
    def name(self) -> str:
        """As the user calls them."""
        return ", ".join(self.judges)

    def checks(self) -> Iterator[Check]:
        """Whether each answers, and whether its dollars will be known."""
        day = datetime.now(UTC).date()
        for judge in self.judges:
            yield probe(judge, self.places, self.environment)
            yield from price_checks(judge, self.places, day, budget=self.budget)


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


def price_checks(judge: str, places: Places, day: date, *, budget: bool) -> Iterator[Check]:
    """How the judge's dollars become known; a budget in dollars cannot be kept while they do not."""
    try:
        settings = read_judge_settings(*named(judge, places, {}))
        made, host = find_judge(settings.judge), provider(settings.provider)
    except HarnessmarkError:
        # What is wrong with it is told where it is asked for a word.
        return
    free = made.demonstration or host.demonstration
    harness = getattr(made, "harness", None)
    if free or (isinstance(harness, ReportsDollars) and host.name in harness.reports_dollars_at):
        return
    prices, missing = settings.prices(), "nobody bills for its tokens at a list price"
    if prices is not None:
        found = f"${prices.input:g} in, ${prices.output:g} out per million tokens, as given"
        yield Check(PRICE, CheckState.PASS, found)
        return
    where = listed(places.prices, host.name, settings.model, host.hosting, free=free)
    if where is not None:
        answer = where.answer(day)
        missing = answer.missing_reason or ""
        if answer.row is not None:
            text = f"price book: {answer.row.model}, {answer.row.days()}"
            yield Check(PRICE, CheckState.PASS, f"{text}, checked on {answer.row.checked_on.isoformat()}")
            return
    fix = "price_input, price_output and price_cache_read in a file of settings of the judge"
    if budget:
        found = f"--budget-usd cannot be kept: what this judge costs stays unknown ({missing})"
        yield Check(PRICE, CheckState.FAIL, found, f"{fix}; or bound the run with --budget-tokens instead")
    else:
        yield Check(PRICE, CheckState.WARN, f"what this judge costs stays unknown ({missing})", fix)


def named(judge: str, places: Places, flags: Mapping[str, object]) -> tuple[Path | None, dict[str, object]]:
    """What a judge's name in a setting stands for: a file of settings, or a name beside other settings."""
    given = {name: value for name, value in flags.items() if value is not None}
    if judge not in JUDGES and ":" not in judge and judge.endswith((".yaml", ".yml")):
        path = Path(judge)
        return (path if path.is_absolute() else places.root / path), given
    return None, {**given, "judge": judge}
