"""The framing of responses: beside h11 on the same bytes, and its bounds."""

from __future__ import annotations

import itertools

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.framing import FramingError, ResponseFramer

OK = b"HTTP/1.1 200 OK\r\n"


def ours(pieces: list[bytes], *, closed: bool) -> tuple[int | None, bytes, bool | None]:
    """Status, body, and whether it ended well; None: a fault was found."""
    framer = ResponseFramer()
    body = b""
    try:
        for piece in pieces:
            body += framer.feed(piece)
        complete = framer.close() if closed else framer.complete
    except FramingError:
        return (None if framer.head is None else framer.head.status), body, None
    return (None if framer.head is None else framer.head.status), body, complete


def theirs(pieces: list[bytes], *, closed: bool) -> tuple[int | None, bytes, bool | None]:
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    status, body, complete = None, b"", False
    try:
        for piece in [*pieces, *([b""] if closed else [])]:
            # With nothing in it h11 takes a piece for the end of the connection.
            if piece or closed:
                connection.receive_data(piece)
            while True:
                event = connection.next_event()
                if isinstance(event, h11.Response):
                    status = event.status_code
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    complete = True
                if event is h11.NEED_DATA or event is h11.PAUSED or complete:
                    break
            if complete:
                break
    except h11.RemoteProtocolError:
        return status, body, None
    return status, body, complete


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[begin:end] for begin, end in itertools.pairwise(edges) if end > begin]


def chunked(parts: list[bytes], extension: bytes = b"", trailer: bytes = b"") -> bytes:
    body = b"".join(b"%x%b\r\n%b\r\n" % (len(part), extension, part) for part in parts if part)
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + body + b"0\r\n" + trailer + b"\r\n"


BODIES = st.lists(st.binary(max_size=40), max_size=6)
RESPONSES = st.one_of(
    st.builds(
        chunked,
        BODIES,
        st.sampled_from([b"", b";x=1", b';a="b"']),
        st.sampled_from([b"", b"X-Sum: 7\r\n"]),
    ),
    BODIES.map(b"".join).map(lambda body: OK + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)),
    BODIES.map(b"".join).map(lambda body: OK + b"Connection: close\r\n\r\n" + body),
    st.just(b"HTTP/1.1 204 No Content\r\n\r\n"),
    BODIES.map(lambda parts: b"HTTP/1.1 100 Continue\r\n\r\n" + chunked(parts)),
    st.just(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\nold body"),
    st.just(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\nX-A: 1\r\nX-a: 2\r\n\r\n{}"),
)


def fault_in(pieces: list[bytes]) -> str | None:
    framer = ResponseFramer()
    try:
        for piece in pieces:
            framer.feed(piece)
    except FramingError as error:
        return error.code
    return None


@given(data=RESPONSES, places=st.lists(st.integers(0, 300), max_size=10), keep=st.integers(0, 300))
def test_any_split_of_good_and_cut_responses_reads_as_with_h11(
    data: bytes, places: list[int], keep: int
) -> None:
    for whole in (data, data[: keep % (len(data) + 1)]):
        assert ours(cut(whole, places), closed=False) == theirs(cut(whole, places), closed=False)


@given(data=RESPONSES, places=st.lists(st.integers(0, 300), max_size=10))
def test_a_body_that_ends_with_the_connection_is_complete_by_that(data: bytes, places: list[int]) -> None:
    status, body, complete = ours(cut(data, places), closed=True)
    assert (status, body, complete) == theirs(cut(data, places), closed=True)
    assert complete


@given(
    data=RESPONSES,
    places=st.lists(st.integers(0, 300), max_size=10),
    at=st.integers(0, 300),
    byte=st.binary(),
)
def test_no_flipped_byte_makes_it_crash_or_depend_on_the_split(
    data: bytes, places: list[int], at: int, byte: bytes
) -> None:
    at %= len(data)
    broken = data[:at] + byte + data[at + 1 :]
    assert ours(cut(broken, places), closed=True) == ours([broken], closed=True) or (
        ours(cut(broken, places), closed=True)[2] is None
    )


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not_http"),
        (b"HTTP/2 200 OK\r\n\r\n", "not_http"),
        (b"HTTP/1.1 two hundred\r\n\r\n", "status_line"),
        (b"HTTP/1.1 099 No\r\n\r\n", "status_line"),
        (OK + b"no colon\r\n\r\n", "header_line"),
        (OK + b"bad name : x\r\n\r\n", "header_line"),
        (OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", "transfer_encoding"),
        (OK + b"Content-Length: 5, 6\r\n\r\n", "content_length"),
        (OK + b"Content-Length: -5\r\n\r\n", "content_length"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk_size"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n", "chunk_size"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", "chunk_size"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "chunk_longer_than_told"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * 9000, "line_too_long"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "switched_protocols"),
        (OK + b"X: " + b"y" * 70_000, "head_too_long"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 5000, "head_too_long"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-T: 1\r\n" * 20_000, "head_too_long"),
    ],
)
def test_what_is_no_response_is_named(data: bytes, code: str) -> None:
    pieces = [data[place : place + 1000] for place in range(0, len(data), 1000)]
    assert fault_in(pieces) == code
    assert fault_in([data]) == code


def test_a_head_in_single_bytes_ends_at_its_bound() -> None:
    data = OK + b"X: " + b"y" * 70_000
    assert fault_in([data[place : place + 1] for place in range(len(data))]) == "head_too_long"


def test_a_huge_chunk_is_handed_on_piece_by_piece() -> None:
    framer = ResponseFramer()
    framer.feed(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n")
    assert framer.feed(b"x" * 1000) == b"x" * 1000
    assert not framer.complete


def test_bytes_after_the_end_are_noticed() -> None:
    framer = ResponseFramer()
    framer.feed(chunked([b"a"]) + b"HTTP/1.1 200 OK")
    assert framer.complete
    assert framer.surplus


@pytest.mark.parametrize(
    ("head", "alive"),
    [
        (OK + b"Content-Length: 0\r\n\r\n", True),
        (OK + b"Content-Length: 0\r\nConnection: Close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", True),
    ],
)
def test_whether_the_connection_stays_open_is_read_from_the_head(head: bytes, alive: bool) -> None:
    framer = ResponseFramer()
    framer.feed(head)
    assert framer.head is not None
    assert framer.head.keeps_alive is alive
