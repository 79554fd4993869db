"""Status text: where a plan stands, in words for a terminal."""

from __future__ import annotations

from datetime import datetime

from runner.engine.progress import dollars, one_line, untested_words
from runner.engine.status import RunnerStatus, Status


def status_lines(status: Status, now: datetime) -> list[str]:
    """Where a plan stands, the most wanted first."""
    lines = [
        f"plan {status.plan_id}" + (" (demonstration)" if status.demonstration else ""),
        f"{status.planned} planned: {status.done} done, {len(status.running)} running, {status.left} left"
        + (f", {status.held} in quarantine" if status.held else ""),
        runner_line(status.runner, now),
    ]
    for each in status.running:
        since, sign = (now - each.since).total_seconds(), (now - each.last_sign).total_seconds()
        doing = {"waiting": "made ready", "at work": "agent at work", "done": "graded"}[each.agent]
        lines.append(
            f"  {each.trial}: {doing}, in hand for {duration(since)}, last sign of life {duration(sign)} ago"
        )
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(status.outcomes.items()))
    if status.done:
        lines.append(f"outcomes: {outcomes}; resolved {status.resolved} of {status.graded} graded")
    if status.untested:
        lines.append(untested_words(status.untested))
    lines += [f"spent: {spent_words(status)}", f"eta: {eta_words(status)}"]
    if status.judged or status.judging or status.to_judge or status.not_judged:
        lines.append(
            f"judged: {status.judged} of {status.done}, {status.judging} waiting, "
            f"{len(status.not_judged)} failed" + (f", {status.to_judge} left" if status.to_judge else "")
        )
    lines += [
        f"not served: {', '.join(each.models)}: {one_line(each.reason)}" for each in status.models_failed
    ]
    lines += [f"note: {one_line(reason)}" for reason in status.reasons]
    if status.log:
        lines.append(f"log: {status.log}")
    if status.resume:
        lines.append(f"go on with: {status.resume}")
    return lines


def runner_line(runner: RunnerStatus, now: datetime) -> str:
    """Whether somebody is at work, or how the last one left."""
    ago = "" if runner.heartbeat is None else f"{duration((now - runner.heartbeat).total_seconds())} ago"
    match runner.state:
        case "none":
            return "runner: none was here"
        case "at work" if runner.pid is None:
            return "runner: at work, it has just begun"
        case "at work":
            doing = f", {runner.phase}" if runner.phase != "running" else ""
            doing += f" {runner.model}" if runner.model else ""
            doing += {"": "", "no more": ", starts nothing more", "now": ", is stopping"}[runner.stopping]
            return f"runner: at work{doing} (process {runner.pid}, heartbeat {ago})"
        case "silent":
            return f"runner: alive, but silent (process {runner.pid}, last heartbeat {ago})"
        case "killed":
            return f"runner: killed (process {runner.pid}, last heartbeat {ago})"
        case "failed":
            return f"runner: failed: {one_line(runner.failure or '')}"
        case "ended":
            return "runner: ended" + ("" if runner.exit_code is None else f" with code {runner.exit_code}")


def spent_words(status: Status) -> str:
    """Money and tokens, and how much of it is not known."""
    if status.unpriced:
        trials = "1 trial" if status.unpriced == 1 else f"{status.unpriced} trials"
        known = f"at least {dollars(status.spent_usd)}, " if status.spent_usd else "unknown, "
        words = f"{known}{trials} without a price"
    else:
        words = dollars(status.spent_usd)
    words += f"; {status.tokens:,} tokens"
    if status.judging_unpriced:
        least = f"at least {dollars(status.judging_usd)}" if status.judging_usd else "unknown"
        words += f"; judging {least}, {status.judging_unpriced} judgements without a price"
    elif status.judging_usd:
        words += f"; judging {dollars(status.judging_usd)}"
    return words + ("; trials in flight are not in it" if status.running else "")


def eta_words(status: Status) -> str:
    """How much longer, and what that rests on."""
    eta = status.eta
    if eta.seconds is None:
        return f"unknown ({eta.basis})"
    once = "" if status.runner.is_alive or not (status.left or status.held) else ", once it goes on"
    return f"{'at least ' if eta.at_least else ''}{duration(eta.seconds)}{once} ({eta.basis})"


def duration(seconds: float) -> str:
    """A time span in one or two units."""
    whole = max(round(seconds), 0)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"
