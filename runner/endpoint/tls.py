"""TlsChannel: TLS on bytes in memory, so that a network read can be stamped before it is decrypted."""

from __future__ import annotations

import ssl

READ_SIZE = 64 * 1024


class TlsChannel:
    """The client's side of one TLS connection. The caller moves the bytes it takes and gives."""

    def __init__(self, context: ssl.SSLContext, server_name: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name)
        self.ready = False
        self.ended = False
        """Whether the server said that it will send no more."""

    def handshake(self) -> None:
        """Go on with the handshake as far as the bytes at hand allow.

        Raises:
            ssl.SSLError: it failed; certificate errors are among them.
        """
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return
        self.ready = True

    def receive(self, data: bytes | memoryview) -> bytes:
        """Encrypted bytes to plain ones; during the handshake there are none.

        Raises:
            ssl.SSLError: the bytes are not TLS, or were tampered with.
        """
        self._incoming.write(data)
        if not self.ready:
            self.handshake()
            if not self.ready:
                return b""
        plain: list[bytes] = []
        try:
            while piece := self._object.read(READ_SIZE):
                plain.append(piece)
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        return plain[0] if len(plain) == 1 else b"".join(plain)

    def send(self, data: bytes) -> bytes:
        """Plain bytes to encrypted ones."""
        self._object.write(data)
        return self._outgoing.read()

    def pending(self) -> bytes:
        """What TLS itself has to say to the server now; often nothing."""
        return self._outgoing.read() if self._outgoing.pending else b""
