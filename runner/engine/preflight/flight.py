"""Flight: every question to ask before a run, put together from what the run will use, and asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape

from runner.engine.places import Places
from runner.engine.planning import Group, by_cell
from runner.engine.preflight.disk import disk_checks
from runner.engine.preflight.inquiry import Progress, inquire
from runner.engine.preflight.judging import Judge, judge_questions
from runner.engine.preflight.machine import clock_checks, git_checks, isolation_checks, memory_checks
from runner.engine.preflight.models import model_questions
from runner.engine.preflight.prices import price_questions
from runner.engine.preflight.programs import harness_questions
from runner.engine.preflight.question import Line, Question
from runner.engine.preflight.report import Report, masked
from runner.engine.preflight.secrecy import secrecy_checks
from runner.engine.preflight.storage import storage_checks
from runner.engine.preflight.tasks import task_questions
from runner.errors import UsageError
from runner.providers.checks import Check, CheckState
from runner.records import PlanRecord
from runner.secrets import Scanner
from runner.store import ResultsStore

ISOLATION_SECONDS = 90.0
"""A container runtime may have to load an image first."""


@dataclass(frozen=True)
class Flight:
    """A run that is about to start."""

    groups: Sequence[Group]
    places: Places
    environment: Mapping[str, str]
    scanner: Scanner
    store: ResultsStore
    key_names: Sequence[str] = ()
    """Environment variables that hold the keys of the run."""
    resumed: PlanRecord | None = None
    """The plan that is to be gone on with."""
    judge: Judge | None = None
    known: Sequence[Line] = field(default=())
    """What was found before anything was asked."""


def look(flight: Flight, progress: Progress = lambda *_: None) -> Report:
    """Ask everything; no text of the report holds a secret."""
    lines = [*flight.known, *inquire(questions(flight), progress)]
    return Report.of(_masked(line, flight.scanner) for line in lines)


def questions(flight: Flight) -> list[Question]:
    """What to ask, in the order of the table: the machine, the agents, the models, the tasks, the results."""
    groups, places, store = flight.groups, flight.places, flight.store
    if not groups:
        return [Question("machine", git_checks)]
    asked = groups[0].settings.isolation
    return [
        Question("machine", git_checks),
        Question("machine", lambda: isolation_checks(groups, asked), ISOLATION_SECONDS),
        Question("machine", lambda: memory_checks(groups)),
        Question("machine", lambda: clock_checks([store])),
        *harness_questions(groups, places.harnesses),
        *model_questions(groups, places, flight.environment),
        *price_questions(groups, places.prices),
        *judge_questions(flight.judge),
        *task_questions(groups, places),
        Question("cells", lambda: cell_checks(groups)),
        Question("disk", lambda: disk_checks(groups, places)),
        Question("results", lambda: storage_checks(groups, store, places, flight.resumed)),
        Question(
            "secrets", lambda: secrecy_checks(groups, flight.scanner, flight.environment, flight.key_names)
        ),
    ]


def cell_checks(groups: Sequence[Group]) -> Iterator[Check]:
    """No two entries fill the same cell."""
    try:
        cells = by_cell(groups)
    except UsageError as error:
        yield Check("cells", CheckState.FAIL, error.what, error.remedy)
    else:
        yield Check("cells", CheckState.PASS, "1 cell" if len(cells) == 1 else f"{len(cells)} cells")


@contextmanager
def shown(console: Console) -> Iterator[Progress]:
    """A line that says what is being waited for, where somebody looks at a terminal."""
    with console.status("pre-flight") as status:

        def progress(done: int, total: int, waiting: Sequence[str]) -> None:
            """Show how many checks are done and which are waited for."""
            names = ", ".join(dict.fromkeys(waiting))
            status.update(escape(f"pre-flight: {done} of {total}; {names}"[: console.width - 4]))

        yield progress


def show(report: Report, console: Console) -> None:
    """The table, what to do about each line that did not pass, and the sum."""
    console.print(report.table())
    for text in report.to_do():
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.print(report.summary(), highlight=False)


def _masked(line: Line, scanner: Scanner) -> Line:
    """``line`` without a secret that a server or a program may have repeated."""
    check = line.check
    pairs = [(text, scanner.mask(text)) for text in (check.found, check.fix) if text]
    return masked(line, pairs)
