"""The server on a unix socket: the same answers, for clients that have no network."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest

from runner.errors import ConfigurationError
from runner.replay import ReplayServer
from tests.replay.tapes import request, tape

PATH = "/r/one/demo/t/v1/chat/completions"


def client(path: Path) -> httpx.Client:
    return httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://model", timeout=60)


def test_both_ways_lead_to_the_same_server(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    with ReplayServer(tape(tmp_path / "tapes"), unix_socket=path) as server, client(path) as http:
        over_socket = http.post(PATH, json=request(stream=True))
        over_network = httpx.post(server.base_url + PATH, json=request(stream=True), trust_env=False)
        assert over_socket.status_code == over_network.status_code == 200
        assert over_socket.text.count("data: ") == over_network.text.count("data: ")
        assert server.count("one").requests == 2
    assert not path.exists()


def test_silence_and_stopping_work_on_a_socket(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    with ReplayServer(tape(tmp_path / "tapes"), unix_socket=path), client(path) as http:
        with pytest.raises(httpx.ReadTimeout):
            http.post(
                "/r/one/demo/t/hang/v1/chat/completions", json=request(), timeout=httpx.Timeout(60, read=0.2)
            )
        assert http.get("/health").json() == {"status": "ok"}


def test_a_socket_left_behind_is_replaced_and_one_in_use_is_not(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    tapes = tape(tmp_path / "tapes")
    with ReplayServer(tapes, unix_socket=path), client(path) as http:
        assert http.get("/health").status_code == 200
        with (
            pytest.raises(ConfigurationError, match="cannot listen"),
            ReplayServer(tapes, unix_socket=path),
        ):
            pytest.fail("two servers on one socket")
        assert http.get("/health").status_code == 200


def test_a_file_in_the_way_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("mine", encoding="utf-8")
    with (
        pytest.raises(ConfigurationError, match="cannot listen"),
        ReplayServer(tape(tmp_path / "tapes"), unix_socket=path),
    ):
        pytest.fail("it listens on a file")
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_path_that_is_too_long_for_a_socket_says_so(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigurationError, match="cannot listen") as caught,
        ReplayServer(tape(tmp_path / "tapes"), unix_socket=tmp_path / ("x" * 120)),
    ):
        pytest.fail("it listens on an impossible path")
    assert "at most 100 characters" in str(caught.value.remedy)
