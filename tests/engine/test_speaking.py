"""Whoever watches an agent never waits for a terminal, and what is shown names no secret."""

from __future__ import annotations

import io
import threading
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from runner.engine.command import run_command
from runner.engine.journal import Journal, RunState, read_state
from runner.engine.places import Places
from runner.engine.speaking import Speaker
from runner.records import Outcome
from runner.secrets import MASK, Scanner
from runner.store import ResultsStore
from tests.engine.standin import ENVIRONMENT, HARNESS, PROVIDER, script

KEY = ENVIRONMENT["STAND_IN_KEY"]
PATIENCE = 60.0


def test_lines_wait_in_their_order_and_what_is_too_much_is_counted() -> None:
    shown: list[str] = []
    free = threading.Event()

    def show(before: str, text: str) -> None:
        assert free.wait(PATIENCE)
        shown.append(before + text)

    with Speaker(show, most=100) as speaker:
        for number in range(500):
            speaker.say(f"line {number}", "> ", at_any_rate=False)
        speaker.say("the end of a trial")
        free.set()
    *lines, end, left_out = shown
    assert [int(line.removeprefix("> line ")) for line in lines] == list(range(len(lines)))
    assert end == "the end of a trial"
    assert left_out == f"  {500 - len(lines)} lines are not shown: they came too fast"
    assert 10 < len(lines) < 30


def test_outside_of_a_run_a_line_is_shown_at_once() -> None:
    shown: list[str] = []
    Speaker(lambda before, text: shown.append(before + text)).say("a line", at_any_rate=False)
    assert shown == ["a line"]


def test_a_reader_that_has_gone_stops_nobody() -> None:
    tried: list[str] = []

    def show(before: str, text: str) -> None:
        tried.append(text)
        raise BrokenPipeError

    with Speaker(show) as speaker:
        for number in range(100):
            speaker.say(f"line {number}")
    assert tried == ["line 0"]


def test_many_speakers_lose_no_line_of_their_own() -> None:
    shown: list[tuple[str, str]] = []
    with Speaker(lambda before, text: shown.append((before, text))) as speaker:

        def speak(name: str) -> None:
            for number in range(300):
                speaker.say(str(number), name, at_any_rate=False)

        threads = [threading.Thread(target=speak, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name in "abcd":
        numbers = [int(text) for before, text in shown if before == name]
        assert len(numbers) == 300
        assert all(first < second for first, second in pairwise(numbers))


class Stuck(io.StringIO):
    """A terminal that takes no line of an agent until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()

    def write(self, text: str) -> int:
        assert " | " not in text or self.free.wait(PATIENCE)
        return super().write(text)


def test_the_limits_of_a_trial_hold_although_nobody_reads_the_terminal(places: Places) -> None:
    script(places, "while True: say(text='y' * 500); time.sleep(0.001)\n")
    terminal = Stuck()
    flags = {"harness": HARNESS, "provider": PROVIDER, "model": "m", "count": 1, "timeout_seconds": 1.0}
    more = {"max_topups": 0, "max_retries": 0, "isolation": "none"}
    stored_meanwhile: list[Outcome] = []

    def let_go_once_it_is_stored() -> None:
        deadline = time.monotonic() + PATIENCE / 2
        while not stored_meanwhile and time.monotonic() < deadline:
            time.sleep(0.05)
            stored_meanwhile.extend(each.record.outcome for each in ResultsStore(places.results).trials())
        terminal.free.set()

    watching = threading.Thread(target=let_go_once_it_is_stored)
    watching.start()
    run_command(
        places,
        Console(file=terminal, width=200),
        config=None,
        flags={**flags, **more},
        environment=ENVIRONMENT,
        stream=True,
        verbose=True,
    )
    watching.join()
    assert stored_meanwhile == [Outcome.TIMEOUT], "the trial waited for the terminal"
    assert "#1 | " in terminal.getvalue()


@pytest.mark.parametrize("verbose", [False, True])
def test_the_live_trace_shows_no_secret_not_even_a_part_before_its_cut(verbose: bool, places: Places) -> None:
    text = f"say(text='x' * 165 + ' ' + {KEY!r})\nprint({KEY!r})\nchange(); note()"
    script(places, text)
    output = io.StringIO()
    run_command(
        places,
        Console(file=output, width=200),
        config=None,
        flags={
            "harness": HARNESS, "provider": PROVIDER, "model": "m", "count": 1, "isolation": "none",
            "api_key_env": "STAND_IN_KEY",
        },
        environment=ENVIRONMENT,
        stream=True,
        verbose=verbose,
    )  # fmt: skip
    assert MASK in output.getvalue()
    assert "stand-in-key" not in output.getvalue()


def test_a_failure_of_a_runner_is_written_down_without_its_secret(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    first = RunState(plan_id="p", pid=1, started=None, begun_at=now, heartbeat=now)
    with (
        pytest.raises(OSError, match="refused"),
        Journal(tmp_path / "state.json", first, mask=Scanner({"K": KEY}).mask),
    ):
        raise OSError(f"refused the key {KEY}")
    state = read_state(tmp_path / "state.json")
    assert state is not None
    assert state.failure == f"refused the key {MASK}"
