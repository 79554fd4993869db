"""Signals to stop are heard however fast they follow each other, by a real process."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from runner.engine.signals import heard
from runner.engine.stop import Interrupted, Stop

PATIENCE = 120.0
HEARS = """
import sys, threading, time
from runner.engine.signals import heard

lock, told = threading.Lock(), []

def press(number):
    with lock:
        told.append(number.name)
        time.sleep(0.02)
        sys.stdout.write(f"{number.name}\\n")
        sys.stdout.flush()

with heard(press):
    sys.stdout.write("ready\\n")
    sys.stdout.flush()
    while len(told) < 5:
        with lock:
            time.sleep(0.001)
"""


def test_a_signal_during_the_handling_of_another_does_not_hang_the_process() -> None:
    child = subprocess.Popen([sys.executable, "-c", HEARS], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        deadline = time.monotonic() + PATIENCE
        while child.poll() is None and time.monotonic() < deadline:
            child.send_signal(signal.SIGTERM)
            time.sleep(0.002)
        # A signal that comes when the handlers are gone ends the process as any other.
        assert child.poll() in {0, -signal.SIGTERM}
        assert child.stdout.read().splitlines()[:5] == ["SIGTERM"] * 5
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


SLEEPS = """
import os, signal, sys, threading, time
from runner.engine.signals import heard

told, listening = threading.Event(), threading.Event()

def send():
    listening.wait()
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)

# As when the system chooses another thread: the main one does not take the signal, and waits when it comes.
threading.Thread(target=send).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
with heard(lambda number: told.set()):
    listening.set()
    told.wait()
sys.stdout.write("told")
"""


def test_a_signal_that_the_system_gives_to_another_thread_is_heard_by_a_main_thread_that_waits() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SLEEPS], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert ran.stdout == "told"


def test_a_wait_that_a_signal_ends_sees_what_the_user_wants() -> None:
    stop, asked = Stop(), threading.Event()

    def press(_: signal.Signals) -> None:
        assert asked.wait(PATIENCE)
        stop.press()

    with heard(press, at_once=stop.interrupt):
        threading.Timer(0.05, asked.set).start()
        with pytest.raises(Interrupted), stop.interrupting():
            signal.raise_signal(signal.SIGTERM)
        assert stop.state() == "no more"
        with pytest.raises(Interrupted), stop.interrupting():
            pytest.fail("it was begun although nothing more is wanted")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_while_nothing_is_waited_for_only_leaves_word() -> None:
    stop, pressed = Stop(), list[bool]()

    def press(_: signal.Signals) -> None:
        pressed.append(stop.press())
        raise BrokenPipeError("the terminal is gone")

    with heard(press, at_once=stop.interrupt):
        signal.raise_signal(signal.SIGINT)
        assert stop.no_more.wait(PATIENCE)
        signal.raise_signal(signal.SIGINT)
        assert stop.now.wait(PATIENCE)
    assert (pressed, stop.state()) == ([False, True], "now")
