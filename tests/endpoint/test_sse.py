"""The event parser: the same events for any split, and every form that servers send."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.sse import EventParser, ServerSentEvent

WHOLE = [
    (b"data: a\n\n", [b"a"]),
    (b"data:a\n\n", [b"a"]),
    (b"data:  a\n\n", [b" a"]),
    (b"data: a\r\n\r\n", [b"a"]),
    (b"data: a\r\r", [b"a"]),
    (b"data: a\r\n\n", [b"a"]),
    (b"data: a\n\r\n", [b"a"]),
    (b"data: a\ndata: b\n\n", [b"a\nb"]),
    (b"data\n\n", [b""]),
    (b"data: a\n\n\n\n\ndata: b\n\n", [b"a", b"b"]),
    (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
    (b": keep alive\n\ndata: a\n\n", [b"a"]),
    (b"data: a\n: in between\ndata: b\n\n", [b"a\nb"]),
    (b"id: 7\nretry: 3\nwhatever: x\ndata: a\n\n", [b"a"]),
    (b"event: x\n\ndata: a\n\n", [b"a"]),
    (b"database: no\n\n", []),
    (b" data: no\n\n", []),
    ("data: a b\x85c\x0bd\x0ce\u2028f\n\n".encode(), ["a b\x85c\x0bd\x0ce\u2028f".encode()]),
    (b"data: \xff\xfe\n\n", [b"\xff\xfe"]),
    (b"data: \x00\n\n", [b"\x00"]),
    (b"", []),
]


def parse(pieces: list[bytes], limit: int | None = None) -> tuple[list[ServerSentEvent], bool]:
    parser = EventParser() if limit is None else EventParser(limit)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.close(), parser.failed


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[begin:end] for begin, end in itertools.pairwise(edges)]


@pytest.mark.parametrize(("data", "expected"), WHOLE)
def test_every_form_of_an_event_is_read(data: bytes, expected: list[bytes]) -> None:
    events, failed = parse([data])
    assert [event.data for event in events] == expected
    assert all(event.whole for event in events)
    assert not failed


@pytest.mark.parametrize(("data", "expected"), WHOLE)
def test_two_pieces_cut_anywhere_give_the_same_events(data: bytes, expected: list[bytes]) -> None:
    for place in range(len(data) + 1):
        events, _ = parse([data[:place], data[place:]])
        assert [event.data for event in events] == expected, place


def test_the_name_of_an_event_goes_with_it_and_not_with_the_next() -> None:
    events, _ = parse([b"event: first\ndata: a\n\ndata: b\n\n"])
    assert [(event.name, event.data) for event in events] == [(b"first", b"a"), (b"", b"b")]


@pytest.mark.parametrize("data", [b"data: a", b"data: a\n", b"data: a\r\n", b"data: a\r"])
def test_what_is_left_at_the_end_is_told_apart_from_a_whole_event(data: bytes) -> None:
    events, _ = parse([data])
    assert events == [ServerSentEvent(b"a", whole=False)]


def test_a_mark_in_the_middle_is_no_mark() -> None:
    events, _ = parse([b"data: a\n\n\xef\xbb\xbfdata: b\n\n"])
    assert [event.data for event in events] == [b"a"]


PIECES = st.lists(
    st.sampled_from(
        [
            b"data",
            b":",
            b" ",
            b"\r",
            b"\n",
            b"\r\n",
            b"\n\n",
            b"data: x",
            b"event: y",
            b": c",
            b"\xef\xbb\xbf",
        ]
    )
    | st.binary(max_size=6),
    max_size=25,
).map(b"".join)


@given(data=PIECES, places=st.lists(st.integers(0, 400), max_size=12), limit=st.integers(1, 40))
def test_no_split_changes_the_events_or_where_a_bound_is_passed(
    data: bytes, places: list[int], limit: int
) -> None:
    assert parse(cut(data, places)) == parse([data])
    assert parse(cut(data, places), limit) == parse([data], limit)
    assert parse([data[place : place + 1] for place in range(len(data))], limit) == parse([data], limit)


def by_the_standard(data: bytes) -> list[tuple[bytes, bytes]]:
    """Events as the HTML standard words it, line by line, for comparison."""
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    *lines, _unfinished = data.split(b"\n")
    events, buffer, name = [], b"", b""
    for line in lines:
        if not line:
            if buffer:
                events.append((name, buffer[:-1]))
            buffer, name = b"", b""
            continue
        field, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if field == b"data":
            buffer += value + b"\n"
        elif field == b"event":
            name = value
    return events


@given(data=PIECES)
def test_whole_events_are_those_of_the_standard(data: bytes) -> None:
    events, _ = parse([data])
    assert [(event.name, event.data) for event in events if event.whole] == by_the_standard(data)


def test_an_event_beyond_the_bound_ends_the_parsing_and_keeps_what_came_before() -> None:
    events, failed = parse([b"data: ok\n\ndata: " + b"x" * 100 + b"\n\ndata: never\n\n"], 50)
    assert [event.data for event in events] == [b"ok"]
    assert failed


def test_a_line_without_an_end_is_bounded_too() -> None:
    parser = EventParser(1000)
    for _ in range(200):
        parser.feed(b": " + b"x" * 8)
    assert parser.failed


def test_endless_comments_are_no_event_and_no_fault() -> None:
    events, failed = parse([b": ping\n\n" * 5000], 100)
    assert events == []
    assert not failed


def test_many_small_lines_of_one_event_are_bounded_together() -> None:
    _, failed = parse([b"data: xxxx\n" * 100], 500)
    assert failed


def test_single_bytes_of_a_long_line_cost_no_more_than_their_number() -> None:
    parser = EventParser()
    for _ in range(200_000):
        parser.feed(b"x")
    assert parser.close() == []
