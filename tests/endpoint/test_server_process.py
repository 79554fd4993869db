"""A server in a process of its own: what it says, and that nothing of it is left."""

from __future__ import annotations

import os
import sys

import pytest

from runner.endpoint import server_process
from runner.endpoint.server_process import ServerProcess
from runner.errors import EndpointError

SAYS_ITS_ID = "import os, sys; print(' ', os.getpid(), flush=True); "


def command(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_server_serves_until_its_input_is_closed() -> None:
    server = ServerProcess(command(SAYS_ITS_ID + "sys.stdin.read()"), "it")
    number = int(server.said)
    assert not is_gone(number)
    server.end()
    assert is_gone(number)


def test_a_server_that_does_not_heed_its_input_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "STOP_SECONDS", 0.1)
    server = ServerProcess(command(SAYS_ITS_ID + "import time; time.sleep(600)"), "it")
    server.end()
    assert is_gone(int(server.said))


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "print()"])
def test_a_server_that_says_nothing_did_not_start(code: str) -> None:
    with pytest.raises(EndpointError, match="the clock did not start"):
        ServerProcess(command(code), "the clock")


def test_a_session_of_its_own_keeps_signals_of_the_terminal_away() -> None:
    server = ServerProcess(command(SAYS_ITS_ID + "sys.stdin.read()"), "it", own_session=True)
    assert os.getsid(int(server.said)) == int(server.said)
    server.end()
