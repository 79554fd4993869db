"""TLS in memory: handshakes in any pieces, bytes that were tampered with, and the server's goodbye."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from runner.endpoint.metronome.process import make_certificate
from runner.endpoint.tls import TlsChannel


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("tls"))


class ServerSide:
    """The other end, in memory too."""

    def __init__(self, certificate: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.object = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.ready = False

    def receive(self, data: bytes) -> None:
        self.incoming.write(data)
        if not self.ready:
            try:
                self.object.do_handshake()
                self.ready = True
            except ssl.SSLWantReadError:
                return

    def said(self) -> bytes:
        return self.outgoing.read()


def client(certificate: Path, name: str = "127.0.0.1") -> TlsChannel:
    return TlsChannel(ssl.create_default_context(cafile=str(certificate)), name)


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[place : place + size] for place in range(0, len(data), size)]


def shaken(certificate: Path, size: int = 100_000) -> tuple[TlsChannel, ServerSide]:
    """Both ends after the handshake, whose bytes went to the client in pieces of ``size``."""
    ours, theirs = client(certificate), ServerSide(certificate)
    ours.handshake()
    for _ in range(4):
        theirs.receive(ours.pending())
        for piece in pieces(theirs.said(), size):
            assert ours.receive(piece) == b""
    assert ours.ready
    assert theirs.ready
    return ours, theirs


@pytest.mark.parametrize("size", [1, 7, 1000, 100_000])
def test_a_handshake_and_what_follows_come_through_in_any_pieces(certificate: Path, size: int) -> None:
    ours, theirs = shaken(certificate, size)
    theirs.receive(ours.send(b"a request" * 5000))
    read = b""
    while len(read) < 45_000:
        read += theirs.object.read(100_000)
    assert read == b"a request" * 5000
    theirs.object.write(b"an answer" * 5000)
    assert b"".join(ours.receive(piece) for piece in pieces(theirs.said(), size)) == b"an answer" * 5000


def test_bytes_that_were_tampered_with_are_refused(certificate: Path) -> None:
    ours, theirs = shaken(certificate)
    theirs.object.write(b"an answer")
    sealed = bytearray(theirs.said())
    sealed[-1] ^= 1
    with pytest.raises(ssl.SSLError):
        ours.receive(bytes(sealed))


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00" * 50])
def test_what_is_no_tls_is_refused(certificate: Path, said: bytes) -> None:
    ours = client(certificate)
    ours.handshake()
    with pytest.raises(ssl.SSLError):
        ours.receive(said)


def test_a_certificate_of_another_name_is_refused(certificate: Path) -> None:
    ours, theirs = client(certificate, "example.org"), ServerSide(certificate)
    ours.handshake()
    theirs.receive(ours.pending())
    with pytest.raises(ssl.SSLCertVerificationError):
        ours.receive(theirs.said())


def test_the_servers_goodbye_is_heard_after_its_last_words(certificate: Path) -> None:
    ours, theirs = shaken(certificate)
    theirs.object.write(b"last words")
    with pytest.raises(ssl.SSLWantReadError):
        theirs.object.unwrap()
    assert not ours.ended
    assert ours.receive(theirs.said()) == b"last words"
    assert ours.ended
