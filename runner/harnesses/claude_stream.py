"""The output of ``claude-code``, read into usage by model, turns, costs and stop reason.

Tokens come from ``modelUsage`` of the last result line: it is a running total of everything, subagents
included, whereas ``usage`` holds the main conversation, or only its last segment, and the counts of the lines
in between are those at the start of an answer. A run without a result line was stopped; its transcripts hold
the final counts of each answer, one line per block of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.claude_transcript import read_transcripts
from runner.harnesses.counts import Counts, as_usage, lower_bound, not_reported, nothing_used, total, usages
from runner.harnesses.stream import NO_END, Event, count, items, mapping, objects, text
from runner.records import Cost, CostBasis, DataWarning, Usage

SYNTHETIC = "<synthetic>"
"""Model of the messages that the agent writes itself, as for an error."""
UNREACHED = {"connection_failed", "connection_error"}
LIMITS = {"error_max_turns": "turns", "error_max_budget_usd": "cost"}
SOURCES = {
    "input_tokens": "modelUsage inputTokens of the last result line, all models",
    "output_tokens": "modelUsage outputTokens of the last result line, all models",
    "cache_read_tokens": "modelUsage cacheReadInputTokens of the last result line, all models",
    "cache_write_tokens": "modelUsage cacheCreationInputTokens of the last result line, all models",
    "reasoning_tokens": "modelUsage thinkingTokens of the last result line, all models",
}
TRANSCRIPT_SOURCES = dict.fromkeys(SOURCES, "transcripts, each answer once")


@dataclass
class Heard:
    """What the lines of a stream add up to."""

    started: bool = False
    result: Event | None = None
    answers: dict[str, None] = field(default_factory=dict)
    """Ids of the model's answers in the main conversation, in order."""
    spoke: bool = False
    """Whether the model said or did anything, in the main conversation or in a subagent."""
    reported_turns: int = 0
    """``num_turns`` over all segments, less the one that is counted for a request without an answer."""
    retries: int = 0
    lost: int = 0
    """Requests that broke off without a status, after the server may have begun to work on them."""
    denied: set[str] = field(default_factory=set)

    def hear(self, event: Event) -> None:
        """Take one line in."""
        kind, subtype = event.get("type"), event.get("subtype")
        if kind == "system" and subtype == "init":
            self.started = True
        elif kind == "system" and subtype == "api_retry":
            self.retries += 1
            self.lost += (
                count(event.get("error_status")) is None and text(event.get("error"), 100) not in UNREACHED
            )
        elif kind == "assistant":
            self._hear_answer(event)
        elif kind == "result":
            self.started, self.result = True, event
            unanswered = (
                event.get("subtype") == "error_max_turns" or event.get("terminal_reason") == "api_error"
            )
            self.reported_turns += max((count(event.get("num_turns")) or 0) - unanswered, 0)
            for denial in items(event.get("permission_denials")):
                self.denied.add(text(mapping(denial).get("tool_name"), 100) or "a tool")

    def _hear_answer(self, event: Event) -> None:
        message = mapping(event.get("message"))
        if message.get("model") == SYNTHETIC:
            return
        self.started = self.spoke = True
        identifier = text(message.get("id"), 200)
        if event.get("parent_tool_use_id") is None and identifier:
            self.answers[identifier] = None


def read_run(stdout: Path, configuration: Path, warnings: Sequence[DataWarning] = ()) -> Reading:
    """The reading of a run. Never raises on broken, cut or missing output.

    Args:
        stdout: the stream.
        configuration: the agent's own folder, in which its transcripts lie.
        warnings: what the caller knows already.
    """
    heard = Heard()
    for event in objects(stdout):
        heard.hear(event)
    if heard.result is None:
        return _read_stopped(heard, configuration, warnings)
    broken = read_transcripts(configuration).broken
    return _read_finished(heard, heard.result, broken, warnings)


def _read_finished(heard: Heard, result: Event, broken: int, warnings: Sequence[DataWarning]) -> Reading:
    by_model = {str(name)[:300]: _counts(mapping(used)) for name, used in _models(result).items()}
    told = {name: counts for name, counts in by_model.items() if not counts.all_zero}
    silent = heard.spoke and not told
    subtype, terminal = text(result.get("subtype"), 100), text(result.get("terminal_reason"), 100)
    failed = result.get("is_error") is not False or terminal not in {"", "completed"}
    usage: Usage | None = None
    if told:
        usage = as_usage(total(told.values()), SOURCES)
    elif not silent and not heard.lost and _turned_away(result):
        usage = nothing_used(SOURCES)
    notes: list[DataWarning] = [*_cost_warnings(result), *_denials(heard)]
    if silent:
        notes.append(not_reported(max(len(heard.answers), 1)))
    lost = heard.lost + broken + (terminal == "api_error" and not _turned_away(result))
    if lost:
        notes.append(lower_bound(f"{lost} answers broke off before all of their token counts arrived"))
    return Reading(
        stop_reason=_stop_reason(subtype, terminal),
        is_error=failed,
        error=_error(result) if failed else None,
        usage=usage,
        usage_by_model=usages(told, SOURCES),
        turns=heard.reported_turns,
        retries=heard.retries,
        costs=_costs(result),
        limit_hit=LIMITS.get(subtype),
        warnings=(*notes, *warnings),
    )


def _read_stopped(heard: Heard, configuration: Path, warnings: Sequence[DataWarning]) -> Reading:
    by_model = read_transcripts(configuration).by_model()
    known = bool(by_model) and not any(counts.all_zero for counts in by_model.values())
    notes = [lower_bound("the agent was stopped, so answers under way were not counted")] if known else []
    if heard.spoke and not known:
        notes.append(not_reported(max(len(heard.answers), 1)))
    return Reading(
        stop_reason="no-end",
        is_error=True,
        error=NO_END,
        usage=as_usage(total(by_model.values()), TRANSCRIPT_SOURCES) if known else None,
        usage_by_model=usages(by_model, TRANSCRIPT_SOURCES) if known else {},
        turns=len(heard.answers) if heard.started else None,
        retries=heard.retries if heard.started else None,
        warnings=(*notes, *warnings),
    )


def _models(result: Event) -> Event:
    return mapping(result.get("modelUsage"))


def _counts(used: Event) -> Counts:
    """Thinking is told only by some servers: 0 stands for not told."""
    return Counts(
        fresh=count(used.get("inputTokens")),
        output=count(used.get("outputTokens")),
        read=count(used.get("cacheReadInputTokens")),
        write=count(used.get("cacheCreationInputTokens")),
        reasoning=count(used.get("thinkingTokens")) or None,
    )


def _turned_away(result: Event) -> bool:
    """Whether the last request was refused by the server, or never reached one, so that it used nothing."""
    return count(result.get("api_error_status")) is not None or result.get("api_error") == "connection_failed"


def _stop_reason(subtype: str, terminal: str) -> str:
    if terminal == "completed" and subtype not in {"", "success"}:
        return subtype
    return terminal or subtype or "unknown"


def _error(result: Event) -> str:
    errors = [text(each) for each in items(result.get("errors"))]
    status = count(result.get("api_error_status"))
    said = text(result.get("result")) or "; ".join(each for each in errors if each)
    return said or f"the agent reports {text(result.get('subtype'), 100) or 'an error'} (status {status})"


def _costs(result: Event) -> tuple[Cost, ...]:
    """The agent's dollars, where it knows the list price of every model it used; else none."""
    amount = result.get("total_cost_usd")
    if _priced_by_guess(result) or not _models(result):
        return ()
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not amount > 0:
        return ()
    source = "the agent's own list prices, total_cost_usd of the last result line"
    return (Cost(basis=CostBasis.PRICE_TABLE, amount_usd=round(float(amount), 6), source=source),)


def _priced_by_guess(result: Event) -> list[str]:
    return [
        str(name)[:100] for name, used in _models(result).items() if mapping(used).get("costBasis") != "list"
    ]


def _cost_warnings(result: Event) -> Iterator[DataWarning]:
    guessed = _priced_by_guess(result)
    if guessed:
        yield DataWarning(
            code="agent-price-made-up",
            text=f"the agent knows no price of {', '.join(guessed)[:500]} and made one up; it is not used",
        )


def _denials(heard: Heard) -> Iterator[DataWarning]:
    if heard.denied:
        yield DataWarning(
            code="permission-denied",
            text=f"the agent was refused the use of {', '.join(sorted(heard.denied))[:500]}",
        )
