"""Whatever a child does, it ends in the right outcome, within its limits, and nothing of it is left.

Every behaviour is a real process, once with no isolation and once in the sandbox.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from itertools import count, repeat
from pathlib import Path

import pytest

from runner.datasets.removal import remove
from runner.engine.outcome import decide_outcome
from runner.engine.supervision import Finished, supervise
from runner.harnesses.base import Launch
from runner.harnesses.loop_stream import read_stream
from runner.records import Outcome
from tests.engine.faults import ENDED, STOPPED, Fault
from tests.isolation.levels import LEVELS, isolation
from tests.survivors import marked

PARENT_MAY_GROW = 48 * 1024 * 1024
PRELUDE = "import os, sys, time, signal, subprocess\nSLEEP = 'import time; time.sleep(61) # {mark}'\n"


class Bench:
    """Folders of one trial and how a fault is run in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: deque[str] = deque(maxlen=3)
        self.mark = f"fault-{os.getpid()}-{time.monotonic_ns()}"
        for name in ("workspace", "artifacts", "home"):
            (folder / name).mkdir()
        (folder / "artifacts" / "implementation.md").write_text("done\n")

    def launch(self, script: str, stdin: bytes = b"") -> Launch:
        return Launch(
            command=(sys.executable, "-c", f"{PRELUDE.format(mark=self.mark)}{script}\n# {self.mark}"),
            environment={"PATH": os.defpath, "HOME": str(self.folder / "home"), "LANG": "C.UTF-8"},
            working_directory=self.folder / "workspace",
            stdin=stdin,
        )

    def run(self, fault: Fault, level: str, *, until_it_speaks: bool = False) -> Finished:
        inside = isolation(level)
        launch = inside.wrap(
            self.launch(fault.script, fault.stdin),
            workspace=self.folder / "workspace",
            artifacts=self.folder / "artifacts",
            home=self.folder / "home",
            gateway=None,
        )
        cancelled = threading.Event()

        def hear(line: str) -> None:
            self.lines.append(line)
            if until_it_speaks:
                cancelled.set()

        return supervise(
            launch,
            stdout=self.folder / "stdout",
            timeout_seconds=fault.timeout,
            idle_seconds=fault.idle,
            cancelled=cancelled,
            process_limit=fault.processes,
            on_line=hear,
        )

    def outcome(self, finished: Finished, fault: Fault) -> tuple[Outcome, str]:
        note = self.folder / "artifacts" / "implementation.md"
        reading = fault.reading or read_stream(self.folder / "stdout")
        return decide_outcome(finished, reading, [] if note.exists() else [note.name])

    def survivors(self) -> list[str]:
        """Processes of this fault; every one of them has the mark in its command line."""
        return marked(self.mark)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    yield Bench(tmp_path)
    assert remove(tmp_path)


def peak_memory() -> int:
    """Bytes of memory this process held at most since the last reset."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def reset_peak_memory() -> int:
    """Forget the peak; what is held now is the new one."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", [*STOPPED, *ENDED])
def test_a_child_that(name: str, level: str, bench: Bench) -> None:
    fault = {**STOPPED, **ENDED}[name]
    before, begun = reset_peak_memory(), time.monotonic()
    finished = bench.run(fault, level)
    took, grown = time.monotonic() - begun, peak_memory() - before
    outcome, reason = bench.outcome(finished, fault)
    assert outcome is fault.outcome, (reason, finished)
    assert fault.says in reason
    assert bench.survivors() == []
    assert took < fault.at_most
    assert grown < PARENT_MAY_GROW
    assert finished.output_cut is fault.cut or name in STOPPED


@pytest.mark.parametrize("level", LEVELS)
def test_a_full_disk_stops_the_child_and_is_our_failure(level: str, bench: Bench) -> None:
    (bench.folder / "stdout").symlink_to("/dev/full")
    fault = Fault("print('x' * 100, flush=True); time.sleep(60)", Outcome.INFRASTRUCTURE)
    finished = bench.run(fault, level)
    outcome, reason = bench.outcome(finished, fault)
    assert (outcome, finished.exit_code) == (Outcome.INFRASTRUCTURE, None) or level == "sandbox"
    assert "No space left on device" in reason
    assert bench.survivors() == []
    assert finished.duration_seconds < fault.at_most


def test_a_jump_of_the_wall_clock_changes_no_limit(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = count(0, 3600)
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    finished = bench.run(Fault("time.sleep(0.5)", Outcome.COMPLETED, idle=45), "none")
    assert (finished.exit_code, finished.timed_out, finished.idle) == (0, False, False)
    assert 0.4 < finished.duration_seconds < 50


def test_limits_follow_the_clock_that_is_given(bench: Bench) -> None:
    ticks = count(0, 1000)
    finished = supervise(
        bench.launch("time.sleep(30)"),
        stdout=bench.folder / "stdout",
        timeout_seconds=3600,
        cancelled=threading.Event(),
        clock=lambda: float(next(ticks)),
    )
    assert finished.timed_out


def test_traffic_at_the_gateway_is_a_sign_of_life(bench: Bench) -> None:
    def supervised(activity: Iterator[int], seconds: float) -> Finished:
        return supervise(
            bench.launch(f"time.sleep({seconds})"),
            stdout=bench.folder / "stdout",
            timeout_seconds=50,
            cancelled=threading.Event(),
            idle_seconds=0.4,
            activity=lambda: next(activity),
        )

    assert not supervised(count(), 1.0).idle
    assert supervised(repeat(7), 60).idle


def test_last_words_after_the_polite_signal_are_kept(bench: Bench) -> None:
    script = "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'usage: 42\\n'), os._exit(0)))\n"
    for level in LEVELS:
        fault = Fault(f"{script}print('at work', flush=True); time.sleep(60)", Outcome.CANCELLED)
        finished = bench.run(fault, level, until_it_speaks=True)
        assert finished.cancelled
        assert (bench.folder / "stdout").read_text() == "at work\nusage: 42\n"
        assert finished.exit_code == 0, "it need not be killed"
