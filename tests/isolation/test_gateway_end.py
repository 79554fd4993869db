"""A gateway that ends leaves nothing open, whatever is under way at it."""

from __future__ import annotations

import gc
import socket
import threading
import time
import warnings

from runner.engine.isolation import Gateway
from runner.engine.isolation.gateway import CLOSE_SECONDS
from tests.isolation.test_gateway import CHUNKED, PATH, PATIENCE, chunk, raw, through
from tests.isolation.upstream import Seen, reply, upstream


def test_a_closed_gateway_leaves_no_socket_no_thread_and_no_connection() -> None:
    before = threading.active_count()
    with through(reply(b"{}"), on_socket=True) as (client, gateway, _):
        client.post(PATH, content=b"{}")
        path = gateway.socket_path
        assert path is not None
        assert path.parent.stat().st_mode & 0o077 == 0
    assert not path.parent.exists()
    deadline = time.monotonic() + PATIENCE
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before


def test_a_gateway_closes_while_an_answer_is_under_way() -> None:
    begun = threading.Event()

    def answer(connection: socket.socket, seen: Seen) -> None:
        connection.sendall(CHUNKED + chunk(b"data: 1\n\n"))
        begun.set()
        connection.recv(10)

    with upstream(answer) as server:
        with Gateway(server.endpoint(), on_socket=False) as gateway, raw(gateway) as connection:
            head = f"POST /v1{PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: {gateway.endpoint.api_key}\r\n"
            connection.sendall(head.encode() + b"content-length: 2\r\n\r\n{}")
            assert begun.wait(PATIENCE)
            closing = time.monotonic()
        # It waits for no end of the answer: that would take as long as it has patience with its own thread.
        assert time.monotonic() - closing < CLOSE_SECONDS
        assert server.gone.wait(PATIENCE)


def test_a_gateway_that_closes_while_agents_connect_leaves_nothing_open() -> None:
    gc.collect()
    with upstream(reply(b"{}")) as server, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(5):
            with Gateway(server.endpoint(), on_socket=False) as gateway:
                agents = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(20)]
            for agent in agents:
                agent.close()
        gc.collect()
    assert [str(each.message) for each in heard] == []
