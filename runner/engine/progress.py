"""Progress of a run in the terminal: a bar, one line per finished trial, and the plan before it starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from runner.engine.attempt import Attempt
from runner.engine.grading import untested
from runner.engine.speaking import Speaker
from runner.engine.tally import RunSummary
from runner.records import Outcome, PlannedTrial, PlanRecord
from runner.records.nouns import counted

CUT = 200


def plan_table(plan: PlanRecord) -> Table:
    """The plan as a table: cells with their number of trials."""
    cells = Counter(planned.identity.cell.key for planned in plan.trials)
    table = Table(title=f"Plan {plan.plan_id}", title_justify="left")
    for heading in ("model and provider", "harness", "skill", "dataset"):
        table.add_column(heading, overflow="fold")
    table.add_column("trials", justify="right")
    for key, count in cells.items():
        table.add_row(*(escape(part) for part in key), str(count))
    return table


def plan_lines(plan: PlanRecord) -> list[str]:
    """Size, order and ceiling of the plan in words."""
    ceiling = "unknown" if plan.cost_ceiling_usd is None else dollars(plan.cost_ceiling_usd)
    size = counted(len(plan.trials), "trial")
    lines = [
        f"{size} in a seeded order (seed {plan.seed}) that interleaves the cells",
        f"cost ceiling: {ceiling} ({plan.cost_ceiling_reason})",
    ]
    if plan.demonstration:
        lines.append("This is a demonstration: the answers are recorded, its figures measure no real model.")
    return lines


class TerminalObserver:
    """Shows a run. Without a terminal there is no bar, only a line for each finished trial.

    Args:
        mask: takes secrets out of a text, before it is cut.
    """

    def __init__(
        self,
        console: Console,
        *,
        stream: bool = False,
        verbose: bool = False,
        mask: Callable[[str], str] = lambda text: text,
    ) -> None:
        self.console = console
        self.stream = stream
        self.verbose = verbose
        self._mask = mask
        # A trial's limits would not hold if those who watch it waited for the terminal.
        self._speaker = Speaker(self._show)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._bar = self._progress.add_task("trials", total=1, state="")

    def __enter__(self) -> TerminalObserver:
        self._progress.start()
        self._speaker.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._speaker.__exit__()
        self._progress.stop()

    def begun(self, plan: PlanRecord, already_finished: int) -> None:
        """Set the bar to what is done already."""
        self._progress.update(self._bar, total=len(plan.trials), completed=already_finished)
        if already_finished:
            self.console.print(
                f"{already_finished} of {len(plan.trials)} trials are there already", highlight=False
            )

    def ended(self, planned: PlannedTrial, result: Attempt, so_far: RunSummary) -> None:
        """One line for the trial; the bar moves on."""
        self._progress.update(self._bar, completed=so_far.finished, state=escape(_state(so_far)))
        self._speaker.say(trial_line(planned, result))

    def note(self, text: str) -> None:
        """A line about the run."""
        self._speaker.say(text)

    def line(self, planned: PlannedTrial, text: str, trace: str | None) -> None:
        """What the harness does, when the user asked for it; in its own words when asked for all."""
        shown = text if self.verbose else trace
        if self.stream and shown is not None:
            self._speaker.say(shown, f"  {_name(planned)} | ", at_any_rate=False)

    def _show(self, before: str, text: str) -> None:
        text = self._mask(text)
        if before:
            text = one_line(text)
            text = text if self.verbose or len(text) <= CUT else text[:CUT] + "..."
        self.console.print(escape(before + text), highlight=False, soft_wrap=True)


def trial_line(planned: PlannedTrial, result: Attempt) -> str:
    """What a trial came to: outcome, checks, turns, time."""
    trial = result.trial
    unknown = "no hidden tests" if untested(result.checks) else "not graded"
    graded = {None: unknown, True: "resolved", False: "not resolved"}[result.resolved]
    seconds = "" if trial.duration_seconds is None else f", {trial.duration_seconds:.1f} s"
    turns = "" if trial.turns is None else f", {trial.turns} turns"
    reason = "" if trial.outcome is Outcome.COMPLETED else f" ({one_line(trial.outcome_reason)})"
    return f"{_name(planned)}: {trial.outcome.value}{reason}, {graded}{turns}{seconds}"


def one_line(text: str) -> str:
    """``text`` on one line, without the characters by which a terminal could be steered."""
    return "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))


def dollars(amount: float) -> str:
    """To the cent; what is less than a cent and not nothing is not shown as nothing."""
    return f"${amount:.2f}" if amount == 0 or amount >= 0.005 else f"${amount:.2g}"


def summary_lines(summary: RunSummary) -> list[str]:
    """How the run ended, in words."""
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(summary.outcomes.items())) or "none"
    lines = [
        f"{summary.finished} of {summary.planned} trials finished: {outcomes}",
        f"resolved {summary.resolved} of {summary.graded} graded",
        f"spent: {_spent(summary)}",
    ]
    if summary.untested:
        lines.insert(2, untested_words(summary.untested))
    lines += [f"not served: {', '.join(each.models)}: {one_line(each.reason)}" for each in summary.failed]
    lines += [f"not judged: {trial}: {one_line(why)}" for trial, why in sorted(summary.not_judged.items())]
    if summary.finished < summary.planned or summary.not_judged:
        lines.append(f"go on with: invoke run --resume {summary.plan_id}")
    return lines


def untested_words(trials: int) -> str:
    """What is to be said of so many trials that nothing but a judge can grade."""
    return f"{counted(trials, 'trial')} of tasks without hidden tests: only a judge can tell what they solved"


def _name(planned: PlannedTrial) -> str:
    identity = planned.identity
    cell = identity.cell
    return f"{cell.served_model} {cell.harness} {cell.skill} {identity.task} #{identity.trial}"


def _state(summary: RunSummary) -> str:
    failed = summary.finished - summary.outcomes.get(Outcome.COMPLETED, 0)
    remaining = summary.planned - summary.finished
    return f"{failed} failed, {remaining} to go, spent {_spent(summary)}"


def _spent(summary: RunSummary) -> str:
    if not summary.unpriced:
        return dollars(summary.spent_usd)
    trials = "1 trial" if summary.unpriced == 1 else f"{summary.unpriced} trials"
    if not summary.spent_usd:
        return f"unknown ({trials} without a price)"
    return f"at least {dollars(summary.spent_usd)}, {trials} without a price"
