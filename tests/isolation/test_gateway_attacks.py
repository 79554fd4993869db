"""What an agent may try at the gateway opens no more of the endpoint, and takes nothing from the runner."""

from __future__ import annotations

import base64
import re
import socket
import threading
from pathlib import Path

import pytest

from runner.engine.isolation import Gateway
from runner.engine.isolation.gateway import MAX_CONNECTIONS
from runner.engine.isolation.relay import MAX_EARLY_BYTES
from tests.isolation.test_gateway import PATH, PATIENCE, through
from tests.isolation.upstream import REAL_KEY, Seen, reply


def connected(gateway: Gateway) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Without a limit of time: with one, a full queue is an error at once.
    connection.connect(str(gateway.socket_path))
    connection.settimeout(PATIENCE)
    return connection


def head(gateway: Gateway, line: str, *more: str) -> bytes:
    lines = [f"{line} HTTP/1.1", "host: x", f"authorization: Bearer {gateway.endpoint.api_key}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "POST", "OPTIONS", "TRACE", "PURGE", "get"])
def test_the_real_key_deletes_and_changes_no_model(method: str) -> None:
    with through(reply(b"{}"), on_socket=True) as (client, gateway, server), connected(gateway) as raw:
        raw.sendall(head(gateway, f"{method} /v1/models/ft:my-model", "content-length: 0"))
        assert raw.recv(1000).startswith(b"HTTP/1.1 403")
        assert server.requests == []
        assert client.get("/models/ft:my-model").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models/..;/files",
        "/v1/models/x;/../files",
        "/v1/models/%25252e%25252e/files",
        "/v1/models/%2525252525252e",
        "/v1/models/%c0%ae%c0%ae/files",
        "/v1/models/%ef%bc%8e%ef%bc%8e/files",
        "/v1/models/%e2%80%a5/files",
    ],
)
def test_no_likeness_of_a_path_upwards_passes(path: str) -> None:
    with through(reply(b"{}"), on_socket=True) as (_, gateway, server), connected(gateway) as raw:
        raw.sendall(head(gateway, f"GET {path}"))
        assert raw.recv(1000).startswith(b"HTTP/1.1 403")
        assert server.requests == []


def test_no_header_leads_a_request_elsewhere_than_its_address_says() -> None:
    sent = {"x-http-method-override": "DELETE", "X-Original-URL": "/v1/files", "x-forwarded-host": "h"}
    with through(reply(b"{}")) as (client, _, server):
        client.post(PATH, content=b"{}", headers={**sent, "openai-beta": "on"})
        [seen] = server.requests
    assert [seen.header(name.lower()) for name in sent] == [None, None, None]
    assert seen.header("openai-beta") == "on"


def test_the_key_comes_back_in_no_part_of_an_answer() -> None:
    def answer(connection: socket.socket, seen: Seen) -> None:
        key = (seen.header("authorization") or "").removeprefix("Bearer ")
        encoded = base64.b64encode(f"user:{key}".encode()).decode()
        lines = [f"HTTP/1.1 401 no {key} here", f"x-basic: {encoded}", f"x-{key}: 1", "content-length: 2"]
        connection.sendall("\r\n".join([*lines, "x-kept: yes", "", "{}"]).encode())

    with through(answer, on_socket=True) as (_, gateway, _), connected(gateway) as raw:
        raw.sendall(head(gateway, f"POST /v1{PATH}", "content-length: 2") + b"{}")
        got = b""
        while not got.endswith(b"{}"):
            got += raw.recv(65536)
    stars = "*" * len(REAL_KEY)
    assert got.startswith(f"HTTP/1.1 401 no {stars} here\r\n".encode())
    assert b"x-kept: yes" in got
    for match in re.findall(rb"[A-Za-z0-9+/=]{16,}", got):
        assert REAL_KEY[3:].encode() not in base64.b64decode(match + b"===", validate=False)
    assert REAL_KEY.encode() not in got


def sent_at_once(connection: socket.socket) -> int:
    """How many more bytes are taken; 0 once the other end takes no more."""
    try:
        return connection.send(b"x" * 65536)
    except TimeoutError:
        return 0


def test_what_an_agent_sends_while_it_waits_for_an_answer_is_not_piled_up_in_the_runner() -> None:
    asked, waits = threading.Event(), threading.Event()

    def answer(connection: socket.socket, seen: Seen) -> None:
        asked.set()
        waits.wait(PATIENCE)
        reply(b"{}")(connection, seen)

    with through(answer, on_socket=True) as (_, gateway, _), connected(gateway) as raw:
        raw.sendall(head(gateway, f"POST /v1{PATH}", "content-length: 2") + b"{}")
        assert asked.wait(PATIENCE)
        raw.settimeout(1)
        taken = sum(iter(lambda: sent_at_once(raw), 0))
        assert taken < MAX_EARLY_BYTES + 2_000_000, "all but what fits into the kernel's buffers waits"
        waits.set()
        raw.settimeout(PATIENCE)
        assert raw.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_an_agent_with_very_many_connections_takes_no_descriptors_from_the_other_trials() -> None:
    with through(reply(b"{}"), on_socket=True) as (client, gateway, _):
        before = len(list(Path("/proc/self/fd").iterdir()))
        held = [connected(gateway) for _ in range(3 * MAX_CONNECTIONS)]
        # The last one is answered, so all before it were let in.
        held[-1].sendall(head(gateway, f"POST /v1{PATH}", "content-length: 2") + b"{}")
        assert held[-1].recv(1000).startswith(b"HTTP/1.1 200"), "the youngest are served"
        ours = len(list(Path("/proc/self/fd").iterdir())) - before - len(held)
        assert ours <= MAX_CONNECTIONS + 8
        assert client.post(PATH, content=b"{}").status_code == 200
        for each in held:
            each.close()
