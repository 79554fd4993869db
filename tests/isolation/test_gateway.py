"""The gateway passes requests and answers as they are, and gives the real key to nobody but the endpoint."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from runner.engine.isolation import Gateway
from runner.errors import ConfigurationError
from runner.harnesses.endpoint import Endpoint, WireProtocol
from tests.isolation.upstream import REAL_KEY, Answer, Seen, Upstream, reply, upstream

PATH = "/chat/completions"
PATIENCE = 60.0
"""Seconds for what comes at once, on however busy a machine."""


@contextmanager
def through(
    answer: Answer,
    *,
    on_socket: bool = False,
    prefix: str = "/v1",
    protocol: WireProtocol = WireProtocol.CHAT_COMPLETIONS,
    max_body_bytes: int = 10_000_000,
) -> Iterator[tuple[httpx.Client, Gateway, Upstream]]:
    """A client whose requests go through a gateway; it presents the dummy key."""
    with (
        upstream(answer) as server,
        Gateway(
            server.endpoint(prefix, protocol), on_socket=on_socket, max_body_bytes=max_body_bytes
        ) as gateway,
    ):
        path = str(gateway.socket_path) if gateway.socket_path else None
        with httpx.Client(
            base_url=gateway.endpoint.base_url,
            headers={"authorization": f"Bearer {gateway.endpoint.api_key}"},
            transport=httpx.HTTPTransport(uds=path),
            timeout=PATIENCE,
        ) as client:
            yield client, gateway, server


@pytest.mark.parametrize("on_socket", [False, True])
def test_request_and_answer_pass_unchanged_but_for_the_key(on_socket: bool) -> None:
    body = json.dumps({"messages": ["hällo"] * 1000}).encode()
    answer = reply(b'{"ok": true}', headers="x-request-id: 7\r\nset-cookie: a=b\r\n")
    with through(answer, on_socket=on_socket) as (client, gateway, server):
        got = client.post(PATH + "?beta=true", content=body, headers={"x-session": "s", "user-agent": "it"})
        [seen] = server.requests
    assert (got.status_code, got.content, got.headers["x-request-id"]) == (200, b'{"ok": true}', "7")
    assert seen.line == "POST /v1/chat/completions?beta=true HTTP/1.1"
    assert seen.body == body
    assert (seen.header("x-session"), seen.header("user-agent")) == ("s", "it")
    assert seen.header("authorization") == f"Bearer {REAL_KEY}"
    assert seen.header("host") == "{}:{}".format(*server.address)
    assert gateway.endpoint.api_key not in seen.head.decode()


def test_what_the_agent_gets_names_neither_endpoint_nor_key() -> None:
    real = Endpoint("https://models.example.org/team/v1", WireProtocol.RESPONSES, "m", REAL_KEY, 1000)
    with Gateway(real, on_socket=False) as gateway:
        shown = gateway.endpoint
    assert "example" not in shown.base_url
    assert (urlsplit(shown.base_url).hostname, urlsplit(shown.base_url).path) == ("127.0.0.1", "/team/v1")
    assert (shown.model, shown.protocol, shown.context_window) == ("m", WireProtocol.RESPONSES, 1000)
    assert len(shown.api_key) > 40
    assert REAL_KEY not in repr(gateway) + repr(vars(shown))


@pytest.mark.parametrize("header", ["x-api-key", "api-key", "x-goog-api-key"])
def test_the_key_is_swapped_wherever_a_client_puts_it(header: str) -> None:
    with through(reply(b"{}")) as (client, gateway, server):
        client.headers.pop("authorization")
        client.post(PATH, content=b"{}", headers={header: gateway.endpoint.api_key})
        assert server.requests[0].header(header) == REAL_KEY
        assert server.requests[0].header("authorization") is None


def test_the_key_in_the_query_is_swapped_too() -> None:
    target = "/models/m:streamGenerateContent"
    generate = WireProtocol.GENERATE_CONTENT
    with through(reply(b"{}"), prefix="", protocol=generate) as (client, gateway, server):
        client.headers.pop("authorization")
        client.post(f"/v1beta{target}?alt=sse&key={gateway.endpoint.api_key}", content=b"{}")
        assert server.requests[0].line == f"POST /v1beta{target}?alt=sse&key={REAL_KEY} HTTP/1.1"
        assert gateway.count().model_requests == 1


@pytest.mark.parametrize("presented", [None, "Bearer sk-of-somebody-else", "Bearer", "Bearer é"])
def test_without_the_dummy_key_nothing_passes(presented: str | None) -> None:
    with through(reply(b"{}")) as (client, gateway, server):
        client.headers.pop("authorization")
        headers = [] if presented is None else [(b"authorization", presented.encode("latin-1"))]
        assert client.post(PATH, content=b"{}", headers=headers).status_code == 401
        assert server.requests == []
        assert gateway.count().refused == 1


@pytest.mark.parametrize(
    "target",
    [
        "/v2/chat/completions",
        "/v1/files",
        "/v1/organization/admin_api_keys",
        "/v1",
        "/",
        "/v1/../other/chat/completions",
        "/v1/%2e%2e/v1/chat/completions",
        "/v1/%252e%252e/chat/completions",
        "/v1//chat/completions",
        "/v1/chat%2fcompletions/..%2f..%2ffiles",
        "/v1/models/../files",
        "/v1/models/x\\..\\files",
        "http://elsewhere.example/v1/chat/completions",
        "//elsewhere.example/v1/chat/completions",
        "@elsewhere.example/v1/chat/completions",
        "*",
    ],
)
def test_the_real_key_opens_nothing_but_the_model(target: str) -> None:
    with through(reply(b"{}")) as (_, gateway, server):
        with raw(gateway) as connection:
            key = gateway.endpoint.api_key
            head = f"POST {target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n"
            connection.sendall(head.encode() + b"content-length: 2\r\n\r\n{}")
            assert connection.recv(1000).startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))
        assert server.requests == []


def test_models_and_token_counts_pass_but_are_no_model_requests() -> None:
    messages = WireProtocol.MESSAGES
    with through(reply(b"{}"), prefix="", protocol=messages) as (client, gateway, server):
        for method, path in (
            ("GET", "/v1/models"),
            ("POST", "/v1/messages/count_tokens"),
            ("POST", "/v1/messages?beta=true"),
        ):
            assert client.request(method, path, content=b"{}" if method == "POST" else None).is_success
        count = gateway.count()
        assert server.requests[0].header("transfer-encoding") is None
    assert (count.model_requests, count.other_requests, count.refused) == (1, 2, 0)
    assert (count.statuses, count.bytes_up, count.bytes_down) == ({200: 3}, 4, 6)


@contextmanager
def raw(gateway: Gateway) -> Iterator[socket.socket]:
    """A bare connection to a gateway on loopback."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=PATIENCE) as connection:
        yield connection


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def test_events_arrive_when_they_are_sent_and_one_by_one() -> None:
    heard = threading.Event()

    def answer(connection: socket.socket, seen: Seen) -> None:
        connection.sendall(CHUNKED)
        for n in range(3):
            connection.sendall(chunk(b"data: %d\n\n" % n))
            # The next event waits until the client has this one: buffering would be a deadlock.
            assert heard.wait(PATIENCE)
            heard.clear()
        connection.sendall(b"0\r\n\r\n")

    with through(answer) as (client, _, _), client.stream("POST", PATH, content=b"{}") as response:
        got = []
        for part in response.iter_raw():
            got.append(part)
            heard.set()
    assert got == [b"data: 0\n\n", b"data: 1\n\n", b"data: 2\n\n"]


def test_a_cut_answer_is_cut_for_the_agent_too_after_what_was_sent() -> None:
    def answer(connection: socket.socket, seen: Seen) -> None:
        connection.sendall(CHUNKED + chunk(b"data: half\n\n"))
        connection.close()

    with through(answer) as (client, gateway, _):
        got = b""

        def read() -> None:
            nonlocal got
            with client.stream("POST", PATH, content=b"{}") as response:
                for part in response.iter_raw():
                    got += part

        with pytest.raises(httpx.RemoteProtocolError):
            read()
        assert got == b"data: half\n\n"
        assert (gateway.count().failed, gateway.count().failure) == (1, "RemoteProtocolError")


def test_an_endpoint_that_is_not_there_is_a_broken_connection_and_is_not_asked_again() -> None:
    target = Endpoint("http://127.0.0.1:9/v1", WireProtocol.CHAT_COMPLETIONS, "m", REAL_KEY)
    with Gateway(target, on_socket=False) as gateway:
        key = {"authorization": f"Bearer {gateway.endpoint.api_key}"}
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(gateway.endpoint.base_url + PATH, headers=key, content=b"{}", timeout=PATIENCE)
        count = gateway.count()
    assert (count.model_requests, count.failed, count.failure) == (1, 1, "ConnectError")


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "401 No", "429 Slow Down", "500 Oops", "529 Overloaded"]
)
def test_errors_pass_as_they_are_and_are_not_repeated(status: str) -> None:
    answer = reply(b'{"error": 1}', status, "retry-after: 3\r\n")
    with through(answer) as (client, gateway, server):
        got = client.post(PATH, content=b"{}")
        assert (got.status_code, got.reason_phrase) == (int(status[:3]), status[4:])
        assert (got.content, got.headers["retry-after"]) == (b'{"error": 1}', "3")
        assert len(server.requests) == gateway.count().model_requests == 1


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with through(reply(b"", "307 There", "location: http://127.0.0.1:1/\r\n")) as (client, _, server):
        assert client.post(PATH, content=b"{}").status_code == 307
        assert len(server.requests) == 1


def test_an_endpoint_that_echoes_the_key_does_not_show_it() -> None:
    def answer(connection: socket.socket, seen: Seen) -> None:
        key = REAL_KEY.encode()
        connection.sendall(CHUNKED.replace(b"\r\n\r\n", b"\r\nx-echo: " + key + b"\r\n\r\n", 1))
        for part in (b"wrong key: " + key[:7], key[7:20], key[20:] + b"!", key[:5], b"sk-"):
            connection.sendall(chunk(part))
            time.sleep(0.01)
        connection.sendall(b"0\r\n\r\n")

    with through(answer) as (client, _, _):
        got = client.post(PATH, content=b"{}")
    stars = "*" * len(REAL_KEY)
    assert got.text == f"wrong key: {stars}!{REAL_KEY[:5]}sk-"
    assert got.headers["x-echo"] == stars


def test_a_large_request_streams_and_a_larger_one_is_refused() -> None:
    with through(reply(b"{}"), max_body_bytes=3_000_000) as (client, gateway, server):
        assert client.post(PATH, content=b"x" * 3_000_000).status_code == 200
        assert len(server.requests[0].body) == 3_000_000
        got = client.post(PATH, content=iter([b"x" * 1_000_000] * 4))
        assert got.status_code == 413
        assert gateway.count().model_requests - gateway.count().failed <= 2


def test_a_chunked_request_arrives_whole() -> None:
    with through(reply(b"{}")) as (client, _, server):
        client.post(PATH, content=iter([b"a" * 10, b"b" * 70_000, b"c"]))
        assert server.requests[0].body == b"a" * 10 + b"b" * 70_000 + b"c"


def test_an_agent_that_leaves_is_not_answered_further() -> None:
    def answer(connection: socket.socket, seen: Seen) -> None:
        connection.sendall(CHUNKED + chunk(b"data: 1\n\n"))
        assert connection.recv(10) == b"", "the gateway keeps the connection although nobody listens"
        raise ConnectionError

    with through(answer) as (client, _, server):
        with client.stream("POST", PATH, content=b"{}") as response:
            next(response.iter_raw())
        assert server.gone.wait(PATIENCE)


def test_an_agent_that_leaves_before_the_answer_begins_is_noticed() -> None:
    asked = threading.Event()

    def answer(connection: socket.socket, seen: Seen) -> None:
        asked.set()
        assert connection.recv(10) == b""
        raise ConnectionError

    with through(answer) as (_, gateway, server):
        with raw(gateway) as connection:
            head = f"POST /v1{PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: {gateway.endpoint.api_key}\r\n"
            connection.sendall(head.encode() + b"content-length: 2\r\n\r\n{}")
            assert asked.wait(PATIENCE)
        assert server.gone.wait(PATIENCE)
        assert gateway.count().model_requests == 1


def test_one_connection_serves_many_requests_also_when_they_come_early() -> None:
    with through(reply(b"{}")) as (_, gateway, server), raw(gateway) as connection:
        request = (
            f"POST /v1{PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: {gateway.endpoint.api_key}\r\n"
            "content-length: 2\r\n\r\n{}"
        )
        connection.sendall(request.encode() * 5)
        got = b""
        while got.count(b"HTTP/1.1 200") < 5:
            got += connection.recv(65536)
        assert len(server.requests) == 5


def test_a_client_that_waits_for_leave_to_send_gets_it() -> None:
    with through(reply(b"{}")) as (_, gateway, server), raw(gateway) as connection:
        head = (
            f"POST /v1{PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: {gateway.endpoint.api_key}\r\n"
            "content-length: 2\r\nexpect: 100-continue\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(b"{}")
        assert b"HTTP/1.1 200" in connection.recv(1000)
        assert server.requests[0].body == b"{}"


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100_000,
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        b"\0" * 1000,
    ],
)
def test_what_is_no_http_is_refused_and_harms_nobody_else(sent: bytes) -> None:
    with through(reply(b"{}")) as (client, gateway, server):
        with raw(gateway) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1000)
            assert answer == b"" or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 501"))
        assert client.post(PATH, content=b"{}").status_code == 200
        assert len(server.requests) == 1


def test_many_at_once_keep_apart() -> None:
    def answer(connection: socket.socket, seen: Seen) -> None:
        time.sleep(0.05)
        reply(seen.body[::-1])(connection, seen)

    with through(answer) as (client, gateway, _):
        got: dict[int, bytes] = {}

        def ask(n: int) -> None:
            got[n] = client.post(PATH, content=b"<%d>" % n).content

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == {n: (b"<%d>" % n)[::-1] for n in range(40)}
        assert gateway.count().model_requests == 40


@pytest.mark.parametrize("address", ["ftp://x/v1", "file:///etc/passwd", "unix:/run/x", "https://", ""])
def test_an_address_that_is_no_model_is_refused_at_once(address: str) -> None:
    with pytest.raises(ConfigurationError):
        Gateway(Endpoint(address, WireProtocol.MESSAGES, "m", REAL_KEY), on_socket=False)
