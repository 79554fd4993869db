"""Servers in the background: known by number, start and boot; stopped with all that belongs to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.errors import ConfigurationError, EndpointError
from runner.providers.background import (
    ServerFile,
    is_up,
    launch_bound,
    launch_free,
    process_mark,
    read_server_file,
    stop,
    tail,
    wait_until,
    write_server_file,
)
from runner.providers.lease import Lease

SLEEPS = (sys.executable, "-c", "import time; time.sleep(60)")


LEAVES_A_CHILD = """
import os, subprocess, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
os._exit(0)
"""


def started(folder: Path, *command: str) -> ServerFile:
    """A server that runs ``command``."""
    log = folder / "log"
    pid = launch_free(command or SLEEPS, environment=dict(os.environ), log=log)
    return ServerFile(
        pid=pid, mark=process_mark(pid) or "", what="m", key="k", base_url="http://h/v1", log=str(log)
    )


def test_a_process_has_one_mark_for_all_its_life_and_none_afterwards(tmp_path: Path) -> None:
    server = started(tmp_path)
    assert process_mark(server.pid) == server.mark
    assert is_up(server)
    assert stop(server, grace_seconds=5)
    assert process_mark(server.pid) != server.mark
    assert not stop(server, grace_seconds=5)
    assert process_mark(os.getpid()) != process_mark(1)


def test_one_that_ended_and_was_not_asked_for_its_end_is_not_up(tmp_path: Path) -> None:
    server = started(tmp_path, sys.executable, "-c", "")
    wait_for(lambda: not is_up(server))
    assert not stop(server, grace_seconds=1)


def test_children_are_stopped_even_where_their_parent_is_gone(tmp_path: Path) -> None:
    server = started(tmp_path, sys.executable, "-c", LEAVES_A_CHILD, str(tmp_path / "known"))
    # What has ended before it was looked at has no mark.
    (tmp_path / "known").touch()
    wait_for(lambda: not is_up(server))
    child = int(Path(server.log).read_text())
    assert process_mark(child) is not None
    assert stop(server, grace_seconds=5)
    wait_for(lambda: process_mark(child) is None)


def test_a_server_of_another_boot_is_left_alone(tmp_path: Path) -> None:
    server = started(tmp_path)
    other = server.model_copy(update={"mark": "another-boot:" + server.mark.rpartition(":")[2]})
    assert not is_up(other)
    assert not stop(other, grace_seconds=1)
    assert is_up(server)
    stop(server, grace_seconds=5)


def test_a_bound_server_gets_the_end_of_its_input_when_its_owner_lets_go(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.read(); print('the pipe closed')"
    process = launch_bound(
        (sys.executable, "-c", code), environment=dict(os.environ), folder=tmp_path, log=tmp_path / "log"
    )
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0
    assert "the pipe closed" in tail(str(tmp_path / "log"))
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0


def test_a_program_that_is_not_there_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not start"):
        launch_free(("/no/such/program",), environment={}, log=tmp_path / "log")
    with pytest.raises(ConfigurationError, match="does not start"):
        launch_bound(("/no/such/program",), environment={}, folder=tmp_path, log=tmp_path / "log")


def test_waiting_ends_with_the_server_and_says_its_last_words(tmp_path: Path) -> None:
    server = started(tmp_path, sys.executable, "-c", "print('no room for the weights')")
    with pytest.raises(EndpointError, match="no room for the weights"):
        wait_until(lambda: False, server, seconds=30, say=print, every=30)


@pytest.mark.parametrize("text", ["", "{}", "no json", '{"pid": "x"}', "\x00", "[" * 10_000])
def test_a_file_that_is_none_of_ours_is_no_server(tmp_path: Path, text: str) -> None:
    path = tmp_path / "vllm.json"
    path.write_text(text, encoding="utf-8")
    assert read_server_file(path) is None
    assert read_server_file(tmp_path / "nothing") is None


def test_a_server_file_comes_back_as_it_was(tmp_path: Path) -> None:
    server = ServerFile(pid=1, mark="b:2", what="m", key="k", base_url="u", log="l", stays=True)
    write_server_file(tmp_path / "f.json", server)
    assert read_server_file(tmp_path / "f.json") == server
    assert [each.name for each in tmp_path.iterdir()] == ["f.json"]


def test_the_end_of_a_log_is_short_and_printable(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 100_000 + b"\n" + b"\x1b[31mred\x07\n\xff\xfe\n" + "\u202eback\n".encode() * 30)
    shown = tail(str(log), 3)
    assert len(shown.splitlines()) == 3
    assert all(line.startswith("    ") for line in shown.splitlines())
    assert "\u202e" not in shown
    assert "\x1b" not in tail(str(log), 40)
    assert max(map(len, tail(str(log), 40).splitlines())) <= 304
    assert tail(str(tmp_path / "nothing")) == "    (there is no log)"


def test_many_use_what_only_one_may_change(tmp_path: Path) -> None:
    one, two = Lease(tmp_path / "lock"), Lease(tmp_path / "lock")
    assert one.use()
    assert two.use()
    assert not two.change()
    one.close()
    assert two.change()
    three = Lease(tmp_path / "lock")
    assert not three.use()
    two.close()
    assert three.use()
    three.close()


def test_a_lease_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from runner.providers.lease import Lease\n"
        "lease = Lease(Path(sys.argv[1])); print(lease.use(), flush=True); time.sleep(60)"
    )
    lease = Lease(tmp_path / "lock")
    command = [sys.executable, "-c", code, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        assert not lease.change()
        other.send_signal(signal.SIGKILL)
    assert lease.change()
    lease.close()


def wait_for(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)
