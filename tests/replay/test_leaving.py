"""Clients of the replay server that leave: nothing waits for them, and what they did not get counts so."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from runner.replay import ReplayServer, RunCount, Tokens
from tests.replay.tapes import request, tape
from tests.replay.test_server import TURN, url


@pytest.mark.parametrize("fault", ["hang", "stall"])
def test_silence_lasts_until_the_client_leaves(tmp_path: Path, fault: str) -> None:
    patience = httpx.Timeout(60, read=0.3)
    with ReplayServer(tape(tmp_path)) as server:
        with httpx.Client(timeout=patience, trust_env=False) as client, pytest.raises(httpx.ReadTimeout):
            client.post(url(server, fault), json=request(stream=True))
        # On a busy machine the client may have left before the server got to read.
        count = counted(server, broken=fault == "stall")
    assert (count.requests, count.broken) == (1, fault == "stall")


def counted(server: ReplayServer, *, broken: int) -> RunCount:
    """The count of the run once a request has come and so many answers broke off."""
    deadline = time.monotonic() + 60
    while (found := server.count("r")).requests == 0 or found.broken < broken:
        assert time.monotonic() < deadline, found
        time.sleep(0.005)
    return found


def test_an_answer_whose_client_left_is_not_counted_as_reported(tmp_path: Path) -> None:
    left = threading.Event()

    def once_it_left(*_: object) -> None:
        left.wait(60)

    with ReplayServer(tape(tmp_path), improviser=once_it_left) as server:
        host, port = server.base_url.removeprefix("http://").split(":")
        body = json.dumps(request()).encode()
        path = url(server).removeprefix(server.base_url)
        with socket.create_connection((host, int(port)), timeout=60) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            raw.sendall(head.encode() + body)
            counted(server, broken=0)
        left.set()
        count = counted(server, broken=1)
    assert (count.answered, count.broken, count.reported) == (0, 1, Tokens())
    assert count.unreported == TURN


def test_stopping_waits_for_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.replay.listener.STOP_SECONDS", 120.0)
    with ThreadPoolExecutor(1) as pool, httpx.Client(trust_env=False, timeout=60) as idle:
        with ReplayServer(tape(tmp_path)) as server:
            idle.get(server.base_url + "/health")
            hanging = pool.submit(httpx.post, url(server, "hang"), json=request(), timeout=120)
            while server.count("r").requests == 0:
                time.sleep(0.01)
            began = time.monotonic()
        assert time.monotonic() - began < 60
        assert isinstance(hanging.exception(60), httpx.HTTPError)
