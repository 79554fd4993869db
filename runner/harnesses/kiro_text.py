"""The terminal text of ``kiro-cli``: no events, no tokens; the trailer is all it says about a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from runner.harnesses.base import Reading
from runner.harnesses.trace import plain
from runner.records import Cost, CostBasis, DataWarning

TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_()][AB0]?")
"""Escape sequences: colours and movements, window titles, and the short ones."""
TRAILER = re.compile(
    r"^\W*(?:(?:est(?:imated|\.)?\s+)?credits?(?:\s+used)?\s*:\s*(?P<credits>[\d.,]+)"
    r"(?:\W+(?:elapsed\s+|total\s+)?(?:time|duration)\s*:.*)?"
    r"|(?:elapsed\s+|total\s+)?time\s*:\s*\d[\dhms. ]*"
    r"(?:\W+credits?(?:\s+used)?\s*:\s*(?P<after>[\d.,]+))?)\W*$",
    re.IGNORECASE,
)
"""``Credits: 0.07 • Time: 4s`` and other spellings: either half alone, either one first, marks before."""
NUMBER = re.compile(r"(?:\d{1,9}|\d{1,3}(?:,\d{3}){1,2})(?:\.\d{1,9})?")
"""A number of credits as it is printed; one of another form, as with a comma for the point, is unknown."""
TOOL = re.compile(r"\(using tool:\s*(?P<name>[\w.-]+)", re.IGNORECASE)
FAILURE = re.compile(
    r"authentication failed|invalid or expired|not logged in|error|denied|limit", re.IGNORECASE
)
MAX_BYTES = 4_000_000
MAX_ERROR = 600
LAST_LINES = 6
"""Where a trailer on standard output may stand: in the middle it is the model's own text."""
SOURCE = "the trailer of kiro-cli"
NO_TRAILER = "the run has no trailer, so it did not end as a finished one does"


def plain_lines(data: bytes) -> list[str]:
    """The lines of terminal output without escape sequences; of a line drawn over, what was drawn last."""
    shown = TERMINAL.sub("", data.decode("utf-8", "replace"))
    lines = (line.rstrip("\r").rpartition("\r")[2].strip() for line in shown.split("\n"))
    return [line for line in lines if line]


def trailers(lines: Sequence[str]) -> Iterator[float | None]:
    """The credits of each trailer; None where it names none."""
    for line in lines:
        if len(line) < MAX_ERROR and (found := TRAILER.match(line)):
            yield _number(found["credits"] or found["after"])


def _number(text: str | None) -> float | None:
    told = "" if text is None else text.strip(".,")
    return float(told.replace(",", "")) if NUMBER.fullmatch(told) else None


def read_run(
    stdout: Path, stderr: Path, dollars_per_credit: float | None, warnings: Sequence[DataWarning] = ()
) -> Reading:
    """The reading of a run from its two outputs. Never raises on broken, cut or missing ones.

    Its exit code is 0 even with a key that is refused, so only a trailer makes a run a finished one. It is
    looked for where the program prints it, on standard error, and then at the end of standard output.

    Args:
        dollars_per_credit: None where the user did not say.
        warnings: what the caller knows already.
    """
    said, told = plain_lines(_end_of(stdout)), plain_lines(_end_of(stderr))
    found = list(trailers(told)) or list(trailers(said[-LAST_LINES:]))
    ended = bool(found)
    used = sum(each or 0.0 for each in found) if ended and None not in found else None
    return Reading(
        stop_reason="end" if ended else "no-trailer",
        is_error=not ended,
        error=None if ended else _error(said, told),
        costs=(credit_cost(used, dollars_per_credit),) if said or told else (),
        warnings=tuple(warnings),
    )


def credit_cost(used: float | None, dollars_per_credit: float | None) -> Cost:
    """So many credits at the user's price, in dollars where both are known."""
    if used is None:
        amount, reason = None, "the run told no credits"
    elif dollars_per_credit is None:
        amount, reason = None, "the price of a credit is not known; give it with --kiro-dollars-per-credit"
    else:
        amount, reason = round(used * dollars_per_credit, 6), None
    return Cost(
        basis=CostBasis.CREDITS,
        amount_usd=amount,
        source=SOURCE,
        credits_used=None if used is None else round(used, 6),
        missing_reason=reason,
    )


def _error(said: Sequence[str], told: Sequence[str]) -> str:
    """Why there is no trailer, in the program's own words where it has any."""
    near = [*told[-20:], *said[-LAST_LINES:]]
    last = (told or said or [""])[-1]
    words = next((line for line in near if FAILURE.search(line)), last)
    return f"{NO_TRAILER}: {words}"[:MAX_ERROR] if words else NO_TRAILER


def _end_of(path: Path) -> bytes:
    """The last bytes of a file, where all that matters stands; nothing where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - MAX_BYTES, 0))
            return file.read()
    except OSError:
        return b""


def trace_line(line: str) -> str | None:
    """A tool call or the beginning of an answer in a few words; None for the rest of the text."""
    shown = TERMINAL.sub("", line)
    if tool := TOOL.search(shown):
        return f"  {plain(tool['name'])} {plain(shown[: tool.start()])}".rstrip()
    if shown.startswith("> ") and shown[2:].strip():
        return f"answer: {plain(shown[2:])}"
    return None
