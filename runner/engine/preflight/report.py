"""Report: what a pre-flight found, counted, shown, and turned into a refusal where something fails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table

from runner.engine.preflight.question import Line
from runner.engine.progress import one_line
from runner.errors import ConfigurationError
from runner.providers.checks import Check, CheckState
from runner.records.nouns import counted

STYLES = {CheckState.PASS: "green", CheckState.WARN: "yellow", CheckState.FAIL: "bold red"}
EXIT_PASSED, EXIT_FAILED = 0, 1


@dataclass(frozen=True)
class Report:
    """Every line that was found, in the order of the questions."""

    lines: tuple[Line, ...]

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Report:
        """A report on ``lines``, each said once."""
        return cls(tuple(dict.fromkeys(lines)))

    def having(self, state: CheckState) -> list[Line]:
        """The lines that ended so."""
        return [line for line in self.lines if line.check.state is state]

    @property
    def exit_code(self) -> int:
        """0 where nothing fails, else 1."""
        return EXIT_FAILED if self.having(CheckState.FAIL) else EXIT_PASSED

    def summary(self) -> str:
        """The report in one line."""
        counts = {state: len(self.having(state)) for state in CheckState}
        words = [f"{counted(counts[CheckState.PASS], 'check')} passed"]
        if counts[CheckState.WARN]:
            words.append(f"{counts[CheckState.WARN]} to know of")
        if counts[CheckState.FAIL]:
            words.append(f"{counts[CheckState.FAIL]} failed")
        return "pre-flight: " + ", ".join(words)

    def table(self) -> Table:
        """Every line with how it ended."""
        table = Table(title="Pre-flight", title_justify="left")
        for heading in ("", "what", "check", "found"):
            table.add_column(heading, overflow="fold")
        for line in self.lines:
            check = line.check
            state = f"[{STYLES[check.state]}]{check.state}[/]"
            words = (line.subject, check.name, check.found)
            table.add_row(state, *(escape(one_line(each)) for each in words))
        return table

    def to_do(self) -> list[str]:
        """What puts each line right that did not pass, failures first, one to copy on a line of its own."""
        open_lines = [*self.having(CheckState.FAIL), *self.having(CheckState.WARN)]
        return [text for line in open_lines for text in _advice(line)]

    def warnings(self) -> list[str]:
        """What a user should know of a run that starts all the same."""
        return [text for line in self.having(CheckState.WARN) for text in _advice(line)]

    def require(self) -> None:
        """Check that nothing failed.

        Raises:
            ConfigurationError: something did; every failure is named with its fix.
        """
        failed = self.having(CheckState.FAIL)
        if len(failed) == 1:
            [line] = failed
            raise ConfigurationError(
                one_line(line.check.found), where=f"{line.subject}: {line.check.name}", remedy=line.check.fix
            )
        if failed:
            raise ConfigurationError(
                f"{len(failed)} checks of the pre-flight failed, nothing was started:\n"
                + "\n".join(f"  {text}" for line in failed for text in _advice(line)),
                remedy="put these right; invoke preflight with the same flags looks again",
            )


def masked(line: Line, mask: Iterable[tuple[str, str]]) -> Line:
    """``line`` with every value of ``mask`` replaced by the word beside it."""
    check = line.check
    found, fix = check.found, check.fix
    for value, word in mask:
        found, fix = found.replace(value, word), fix.replace(value, word)
    return Line(line.subject, Check(check.name, check.state, found, fix, check.window))


def _advice(line: Line) -> list[str]:
    check = line.check
    text = one_line(f"{check.state}: {line.subject}: {check.name}: {check.found}")
    return [text, f"  fix: {one_line(check.fix)}"] if check.fix else [text]
