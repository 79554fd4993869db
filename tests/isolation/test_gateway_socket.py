"""The gateway's socket finds a place that its path fits into."""

from __future__ import annotations

import contextlib
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.engine.isolation.bubblewrap import ATTENDANT
from tests.isolation.test_gateway import PATH, through
from tests.isolation.upstream import reply
from tests.ports import held_port


def test_a_temporary_folder_too_deep_for_a_socket_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with through(reply(b'{"ok": true}'), on_socket=True) as (client, gateway, _):
        assert gateway.socket_path is not None
        folder = gateway.socket_path.parent
        assert folder.stat().st_mode & 0o077 == 0
        assert client.post(PATH, json={}).json() == {"ok": True}
    assert not folder.exists()
    assert list(deep.iterdir()) == []


@contextlib.contextmanager
def attended(path: Path, port: int, *, descriptors: int) -> Iterator[int]:
    """Process id of an attendant of a command that waits; it carries ``port`` to the socket at ``path``."""
    words = [sys.executable, "-I", "-S", str(ATTENDANT), str(path), str(port), "-", "-", "--", "cat"]
    limit = (descriptors, descriptors)
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit),
    ) as process:
        try:
            yield process.pid
        finally:
            said = process.communicate()[1]
    assert said == b""


def connected(port: int) -> socket.socket:
    """A connection to an attendant that may still be starting."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="isolation is for Linux only")
def test_an_agent_that_opened_too_many_connections_reaches_its_model_again(tmp_path: Path) -> None:
    with (
        held_port() as port,
        socket.socket(socket.AF_UNIX) as model,
        attended(tmp_path / "s", port, descriptors=24) as number,
    ):
        model.bind(str(tmp_path / "s"))
        model.listen(64)
        model.settimeout(30)
        opened = [connected(port) for _ in range(20)]
        deadline = time.monotonic() + 60
        while len(list(Path(f"/proc/{number}/fd").iterdir())) < 23:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for each in opened:
            each.close()
        with connected(port) as again:
            again.sendall(b"hello")
            while True:
                with model.accept()[0] as carried:
                    if carried.recv(5):
                        break
