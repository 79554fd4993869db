"""Coding: what agents did on tasks, over all tasks of a target and over each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runner.endpoint.statistics.distribution import distribution
from runner.endpoint.statistics.intervals import rate
from runner.endpoint.statistics.money import money
from runner.endpoint.statistics.scores import has_passed, was_attempted
from runner.records.bench_summary import CodingSummary
from runner.records.bench_trial import BenchAgent, BenchTrial

ERROR = "error"


def coding(target: str, trials: Sequence[BenchTrial]) -> tuple[CodingSummary, ...]:
    """All agentic trials of a target together, then each case; empty where there are none."""
    mine = [trial for trial in trials if trial.case_kind == "agentic" and not trial.warm_up]
    if not any(map(was_attempted, mine)):
        return ()
    cases = dict.fromkeys(trial.case for trial in mine if was_attempted(trial))
    each = [coding_of(target, case, [trial for trial in mine if trial.case == case]) for case in cases]
    return (coding_of(target, None, mine), *each)


def coding_of(target: str, case: str | None, trials: Sequence[BenchTrial]) -> CodingSummary:
    """The figures of these trials. A task that a failed request ended counts as attempted and unsolved.

    What was planned and never asked, or cut by a budget, is told beside, by its reason, and is in no figure
    of these.
    """
    skipped = Counter(trial.skipped for trial in trials if trial.skipped is not None)
    trials = [trial for trial in trials if was_attempted(trial)]
    agents = [trial.agent for trial in trials if trial.agent is not None]
    solved = sum(map(has_passed, trials))
    calls = sum(agent.tool_calls for agent in agents)
    names: Counter[str] = Counter(call.name for agent in agents for call in agent.calls)
    return CodingSummary(
        target=target,
        case=case,
        attempted=len(trials),
        skipped=dict(sorted(skipped.items())),
        solved=rate(solved, len(trials)),
        graded=rate(sum(agent.stop_reason != ERROR for agent in agents), len(trials)),
        self_verified=rate(sum(agent.self_verified for agent in agents), len(trials)),
        turns=distribution((float(agent.turns) for agent in agents), skipped=skipped),
        tool_calls=distribution((float(agent.tool_calls) for agent in agents), skipped=skipped),
        invalid_calls=rate(sum(agent.invalid_calls for agent in agents), calls),
        no_progress_calls=rate(sum(agent.no_progress_calls for agent in agents), calls),
        wall_seconds=distribution((agent.wall_seconds for agent in agents), skipped=skipped),
        total_tokens=distribution(map(_tokens, agents), skipped=skipped),
        first_turn_ttft_ms=distribution(
            (trial.requests[0].timing.ttft_ms for trial in trials if trial.requests), skipped=skipped
        ),
        stop_reasons=dict(sorted(Counter(agent.stop_reason for agent in agents).items())),
        calls_by_name=dict(sorted(names.items())),
        money=money(trials, solved, len(trials)),
    )


def _tokens(agent: BenchAgent) -> float | None:
    if agent.prompt_tokens is None or agent.output_tokens is None:
        return None
    return float(agent.prompt_tokens + agent.output_tokens)
