"""Servers that do what a test wants: each connection is handed to a script, byte by byte."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from runner.endpoint.address import EndpointAddress
from tests.endpoint.exchanges import DONE, chunk, sse

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
ANSWER = sse(chunk(content="yes"), chunk(finish="stop"), DONE)


def framed(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


WHOLE = HEAD + framed(ANSWER) + END


class Peer:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def request(self) -> tuple[bytes, bytes] | None:
        """Head and body of the next request; None when the client has left."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        lines = head.lower().split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        return head, await self.reader.readexactly(length)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        self.writer.transport.abort()

    async def until_client_leaves(self) -> None:
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(1024):
                continue


Script = Callable[[Peer], Awaitable[None]]


class Server:
    """What a test may want to know of the server."""

    def __init__(self, address: EndpointAddress) -> None:
        self.address = address
        self.connections = 0
        self.open = 0


@asynccontextmanager
async def serving(script: Script, certificate: Path | None = None) -> AsyncIterator[Server]:
    """A server on this machine; ``script`` gets every connection and may leave it open or close it."""
    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.connections += 1
        server.open += 1
        try:
            await script(Peer(reader, writer))
        except (ConnectionError, asyncio.CancelledError, asyncio.IncompleteReadError):
            writer.transport.abort()
        finally:
            server.open -= 1
            tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    listener = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    port = listener.sockets[0].getsockname()[1]
    scheme = "http" if context is None else "https"
    server = Server(EndpointAddress(f"{scheme}://127.0.0.1:{port}/v1", "key-1", authority=certificate))
    try:
        yield server
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listener.wait_closed()


def saying(*pieces: bytes, pause: float = 0.0, then: str = "close") -> Script:
    """A script that answers every request with ``pieces``, then closes, resets, waits or goes on."""

    async def script(peer: Peer) -> None:
        while await peer.request() is not None:
            for piece in pieces:
                await peer.send(piece)
                await asyncio.sleep(pause)
            if then == "reset":
                peer.reset()
                return
            if then == "wait":
                await peer.until_client_leaves()
            if then != "go on":
                return

    return script
