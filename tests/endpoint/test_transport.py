"""The transport against servers that are slow, broken or hostile: each phase has its class."""

from __future__ import annotations

import asyncio
import socket

import pytest

from runner.endpoint.address import EndpointAddress
from runner.endpoint.ask import Deadlines, Outcome, Phase, StreamResult
from runner.endpoint.client import StreamClient, Transport
from runner.endpoint.exchange import Bounds
from tests.endpoint.exchanges import chunk, question, sse
from tests.endpoint.servers import ANSWER, END, HEAD, WHOLE, Peer, Script, framed, saying, serving

TRANSPORTS: tuple[Transport, ...] = ("asyncio", "httpx")
PATIENT = Deadlines(connect=60, headers=60, stall=60, total=60)
NO_HEAD = PATIENT.model_copy(update={"headers": 0.15})
STALLING = PATIENT.model_copy(update={"stall": 0.15})
"""Only where they are meant to pass: on a busy machine anything can take so long."""
WORD = framed(sse(chunk(content="x")))


def ask(
    script: Script,
    *,
    transport: Transport = "asyncio",
    deadlines: Deadlines = PATIENT,
    bounds: Bounds = Bounds(),  # noqa: B008 - a frozen value
) -> StreamResult:
    async def run() -> StreamResult:
        async with (
            serving(script) as server,
            StreamClient(server.address, transport=transport, bounds=bounds) as client,
        ):
            result = await client(question(deadlines=deadlines))
            others = asyncio.all_tasks() - {asyncio.current_task()}
        left = [repr(task) for task in others if not task.done()]
        # The server's own tasks are none of the client's.
        assert [
            task for task in left if "serving.<locals>" not in task and "_accept_connection" not in task
        ] == []
        return result

    return asyncio.run(run())


async def silent(peer: Peer) -> None:
    await peer.until_client_leaves()


async def endless_headers(peer: Peer) -> None:
    await peer.request()
    await peer.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await peer.send(b"x-more: of the same\r\n" * 100)


async def endless_body(peer: Peer) -> None:
    await peer.request()
    await peer.send(HEAD)
    while True:
        await peer.send(framed(b": comment\n\n" * 1000))


async def drip(peer: Peer) -> None:
    await peer.request()
    await peer.send(HEAD)
    while True:
        await peer.send(framed(b": still here\n\n"))
        await asyncio.sleep(0.03)


LONG = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n"
CASES: dict[str, tuple[Script, Outcome, str | None]] = {
    "whole": (saying(WHOLE), Outcome.OK, None),
    "counted": (saying(LONG % len(ANSWER) + ANSWER), Outcome.OK, None),
    "until the end": (saying(b"HTTP/1.1 200 OK\r\n\r\n" + ANSWER), Outcome.OK, None),
    "old": (saying(b"HTTP/1.0 200 OK\r\n\r\n" + ANSWER), Outcome.OK, None),
    "interim": (saying(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + WHOLE), Outcome.OK, None),
    "silent": (silent, Outcome.TIMEOUT_HEADERS, "timeout_headers"),
    "half a head": (saying(HEAD[:30], then="wait"), Outcome.TIMEOUT_HEADERS, "timeout_headers"),
    "stalls": (saying(HEAD + WORD, then="wait"), Outcome.TIMEOUT_STALL, "timeout_stall"),
    "no end": (saying(HEAD + framed(ANSWER), then="wait"), Outcome.OK, None),
    "closes at once": (saying(), Outcome.STREAM_ERROR, "connection_closed"),
    "cut": (saying(HEAD + WORD), Outcome.STREAM_ERROR, "connection_closed"),
    "cut when counted": (saying(LONG % 9999 + ANSWER[:40]), Outcome.STREAM_ERROR, "connection_closed"),
    "cut in silence": (saying(HEAD + WORD + END), Outcome.INCOMPLETE, "no_finish"),
    "reset": (saying(HEAD + WORD, pause=0.02, then="reset"), Outcome.STREAM_ERROR, None),
    "not http": (saying(b"220 mail.example.org ESMTP\r\n"), Outcome.HTTP_ERROR, "not_http"),
    "bad chunk": (saying(HEAD + b"zz\r\n"), Outcome.STREAM_ERROR, "chunk_size"),
    "redirect": (
        saying(b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n"),
        Outcome.HTTP_ERROR,
        "http_307",
    ),
    "endless headers": (endless_headers, Outcome.HTTP_ERROR, "head_too_long"),
}


def deadlines_for(script: Script, outcome: Outcome) -> Deadlines:
    """Short ones where the answer never ends."""
    if outcome is Outcome.TIMEOUT_HEADERS:
        return NO_HEAD
    return STALLING if outcome is Outcome.TIMEOUT_STALL or script is CASES["no end"][0] else PATIENT


@pytest.mark.parametrize(("script", "outcome", "code"), CASES.values(), ids=CASES.keys())
def test_each_way_to_answer_has_its_class(script: Script, outcome: Outcome, code: str | None) -> None:
    result = ask(script, deadlines=deadlines_for(script, outcome))
    assert result.outcome is outcome
    if code is not None:
        assert result.failure is not None
        assert result.failure.code == code


BOTH = ["whole", "counted", "silent", "stalls", "closes at once", "cut", "cut in silence", "redirect"]


@pytest.mark.parametrize("name", BOTH)
def test_httpx_gives_the_same_classes(name: str) -> None:
    script, outcome, _ = CASES[name]
    result = ask(script, transport="httpx", deadlines=deadlines_for(script, outcome))
    assert result.outcome is outcome


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_drip_of_comments_is_no_stall_and_ends_at_the_total(transport: Transport) -> None:
    result = ask(drip, transport=transport, deadlines=PATIENT.model_copy(update={"total": 0.3}))
    assert result.outcome is Outcome.TIMEOUT_TOTAL
    assert result.failure is not None
    # A machine that is held up may not have got as far as the head by then.
    early = {Phase.CONNECT, Phase.HEADERS}
    assert result.failure.phase in ({Phase.STREAM} if result.milestones.headers else early)
    assert result.milestones.first_any is None


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_endless_body_ends_at_its_bound(transport: Transport) -> None:
    deadlines = Deadlines(total=None, stall=None, headers=None)
    result = ask(endless_body, transport=transport, deadlines=deadlines, bounds=Bounds(body=300_000))
    assert result.outcome is Outcome.STREAM_ERROR
    assert result.failure is not None
    assert result.failure.code == "body_too_large"
    assert result.body_bytes < 1_000_000


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_nobody_at_the_address_is_told_as_a_connection_that_failed(transport: Transport) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = EndpointAddress(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")

        async def run() -> StreamResult:
            async with StreamClient(address, transport=transport) as client:
                return await client(question())

        result = asyncio.run(run())
    assert result.outcome is Outcome.CONNECT_ERROR
    assert result.failure is not None
    assert (result.failure.code, result.failure.phase) == ("connection_refused", Phase.CONNECT)
    assert result.milestones.first_byte is None


def test_a_listener_that_never_accepts_is_a_timeout_of_connecting() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        host, port = full.getsockname()[:2]
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex((host, port))

        async def run() -> StreamResult:
            async with StreamClient(EndpointAddress(f"http://127.0.0.1:{port}/v1")) as client:
                return await client(question(deadlines=Deadlines(connect=0.1)))

        result = asyncio.run(run())
        for each in waiting:
            each.close()
    assert result.outcome is Outcome.TIMEOUT_CONNECT
    assert result.failure is not None
    assert result.failure.phase is Phase.CONNECT


def test_an_open_connection_is_used_again_and_a_finished_one_is_not() -> None:
    async def run(script: Script, requests: int) -> tuple[int, list[bool | None]]:
        async with serving(script) as server, StreamClient(server.address) as client:
            results = [await client(question(deadlines=PATIENT)) for _ in range(requests)]
            assert {result.outcome for result in results} == {Outcome.OK}
            return server.connections, [result.connection_reused for result in results]

    assert asyncio.run(run(saying(WHOLE, then="go on"), 3)) == (1, [False, True, True])
    closing = WHOLE.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", 1)
    assert asyncio.run(run(saying(closing), 3)) == (3, [False, False, False])
    assert asyncio.run(run(saying(WHOLE + b"HTTP/1.1 200 OK", then="wait"), 2)) == (2, [False, False])


def test_a_request_reused_connection_has_no_connect_time() -> None:
    async def run() -> list[StreamResult]:
        script = saying(WHOLE, then="go on")
        async with serving(script) as server, StreamClient(server.address) as client:
            return [await client(question()) for _ in range(2)]

    first, second = (result.milestones for result in asyncio.run(run()))
    assert first.connect_begun is not None
    assert first.connected is not None
    assert first.sent is not None
    assert first.connect_begun <= first.connected <= first.sent
    assert (second.connect_begun, second.connected) == (None, None)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_milestones_stand_in_the_order_in_which_things_happen(transport: Transport) -> None:
    result = ask(saying(HEAD, WORD, framed(ANSWER) + END, pause=0.01), transport=transport)
    at = result.milestones
    order = [at.scheduled, at.released, at.connect_begun, at.connected, at.sent, at.first_byte, at.headers]
    stamps = [stamp for stamp in [*order, at.first_event, at.first_any, at.last_any, at.done] if stamp]
    assert len(stamps) == 11
    assert stamps == sorted(stamps)
    assert at.written is not None
    assert result.text == "xyes"
    assert result.transport == transport


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("script", [silent, saying(HEAD + WORD, then="wait")], ids=["silent", "in the body"])
def test_cancelling_closes_the_connection_and_leaves_nothing(script: Script, transport: Transport) -> None:
    async def run() -> None:
        async with serving(script) as server, StreamClient(server.address, transport=transport) as client:
            task = asyncio.create_task(client(question()))
            while not server.open:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            for _ in range(200):
                if not server.open:
                    break
                await asyncio.sleep(0.01)
            assert server.open == 0

    asyncio.run(run())


def test_a_request_is_never_sent_twice() -> None:
    seen: list[bytes] = []

    async def script(peer: Peer) -> None:
        found = await peer.request()
        seen.append(found[1] if found else b"")
        if len(seen) == 1:
            await peer.send(WHOLE)
            await peer.request()
            seen.append(b"second")
        peer.reset()

    async def run() -> list[StreamResult]:
        async with serving(script) as server, StreamClient(server.address) as client:
            return [await client(question(deadlines=PATIENT)) for _ in range(2)]

    first, second = asyncio.run(run())
    assert first.outcome is Outcome.OK
    assert second.outcome is Outcome.STREAM_ERROR
    assert second.connection_reused
    assert second.failure is not None
    assert second.failure.phase is Phase.HEADERS
    assert len(seen) == 2


def test_a_large_request_is_written_whole_to_a_slow_reader() -> None:
    sizes: list[int] = []

    async def script(peer: Peer) -> None:
        # The request has begun to be sent, and its first letter is not missed.
        await peer.reader.readexactly(1)
        await asyncio.sleep(0.1)
        found = await peer.request()
        sizes.append(len(found[1]) if found else 0)
        await peer.send(WHOLE)

    text = "x" * 12_000_000

    async def run() -> StreamResult:
        async with serving(script) as server, StreamClient(server.address) as client:
            return await client(question(system=text))

    result = asyncio.run(run())
    assert result.outcome is Outcome.OK
    assert sizes[0] > len(text)
    assert result.milestones.sent is not None
    assert result.milestones.written is not None
    assert result.milestones.written - result.milestones.sent >= 100_000_000
    assert result.bytes_sent > len(text)


def test_an_answer_before_the_request_was_read_ends_the_connection() -> None:
    refused = b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n"

    async def script(peer: Peer) -> None:
        await peer.send(refused)
        await asyncio.sleep(0.1)
        await peer.until_client_leaves()

    async def run() -> list[StreamResult]:
        async with serving(script) as server, StreamClient(server.address) as client:
            return [await client(question(system="x" * 12_000_000)) for _ in range(2)]

    first, second = asyncio.run(run())
    assert (first.http_status, second.http_status) == (413, 413)
    assert second.connection_reused is False


@pytest.mark.parametrize("cut", [1, 3, 7])
def test_any_pieces_of_the_response_give_the_same_answer(cut: int) -> None:
    pieces = [WHOLE[place : place + cut] for place in range(0, len(WHOLE), cut)]
    result = ask(saying(*pieces), deadlines=Deadlines())
    assert (result.outcome, result.text, result.ended_cleanly) == (Outcome.OK, "yes", True)
    assert result.bytes_received == len(WHOLE)
