"""A key is swapped and hidden whatever surrounds it and wherever a stream is split."""

from __future__ import annotations

import json
from itertools import pairwise
from urllib.parse import parse_qsl, quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.engine.isolation.admission import admit
from runner.engine.isolation.credential import Veil, dummy_key, with_real_key
from runner.harnesses.endpoint import Endpoint, WireProtocol

KEY = "sk-0123456789abcdef"
DUMMY = dummy_key()
PARTS = st.lists(st.sampled_from([KEY, KEY[:7], KEY[7:], "sk-", "s", "x", "\n", ""]), max_size=20)


@given(PARTS, st.lists(st.integers(0, 200), max_size=10))
def test_a_split_stream_comes_out_as_the_whole_would(parts: list[str], cuts: list[int]) -> None:
    data = "".join(parts).encode()
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    veil = Veil(KEY)
    out = b"".join(veil.through(data[a:b]) for a, b in pairwise(places)) + veil.rest()
    assert out == data.replace(KEY.encode(), b"*" * len(KEY))


@given(st.binary(max_size=500))
def test_what_does_not_look_like_the_key_is_never_held_back(data: bytes) -> None:
    assert Veil(KEY).through(data + b"\n\n") == data + b"\n\n"


def test_a_key_too_short_to_be_one_is_left_alone() -> None:
    assert Veil("x").through(b"xxx") == b"xxx"


QUERY = st.lists(st.tuples(st.sampled_from(["alt", "key", "a b", "Key"]), st.text(max_size=5)), max_size=4)


@given(QUERY, st.integers(0, 4))
def test_only_the_dummy_in_a_query_becomes_the_real_key(pairs: list[tuple[str, str]], place: int) -> None:
    pairs.insert(min(place, len(pairs)), ("key", DUMMY))
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
    swapped = with_real_key([], query, dummy=DUMMY, real=KEY)
    assert swapped is not None
    got = parse_qsl(swapped[1], keep_blank_values=True)
    assert [pair for pair in got if pair[0] == "key"] == [("key", KEY)]
    assert [pair for pair in got if pair[0] != "key"] == [pair for pair in pairs if pair[0] != "key"]


def test_a_strange_credential_beside_the_dummy_is_left_out() -> None:
    headers = [(b"Authorization", b"Bearer other"), (b"X-Api-Key", DUMMY.encode()), (b"x", b"y")]
    assert with_real_key(headers, "", dummy=DUMMY, real=KEY) == (
        [(b"X-Api-Key", KEY.encode()), (b"x", b"y")],
        "",
    )


def test_an_endpoint_without_a_key_gets_none() -> None:
    headers = [(b"authorization", b"bearer " + DUMMY.encode())]
    assert with_real_key(headers, f"key={DUMMY}&a=1", dummy=DUMMY, real="") == ([], "a=1")


def test_no_two_trials_share_a_dummy() -> None:
    assert dummy_key() != dummy_key()


ENDPOINT = Endpoint("https://models.example/team/v1", WireProtocol.CHAT_COMPLETIONS, "m", KEY)


@given(st.text(st.sampled_from(list("/.%2eE\\v1team:@?#chatcompletions")), max_size=40))
def test_no_path_leads_out_of_the_endpoint(text: str) -> None:
    admitted = admit(ENDPOINT, "POST", "/team/v1/" + text)
    if admitted is not None:
        assert admitted.path in {"/team/v1/completions", "/team/v1/chat/completions"} or (
            admitted.path.startswith(("/team/v1/models", "/team/v1/v1/"))
        )
        assert ".." not in admitted.path


@pytest.mark.parametrize(
    ("protocol", "prefix", "method", "path", "for_an_answer"),
    [
        (WireProtocol.CHAT_COMPLETIONS, "/v1", "POST", "/v1/chat/completions", True),
        (WireProtocol.CHAT_COMPLETIONS, "/v1", "GET", "/v1/models", False),
        (WireProtocol.CHAT_COMPLETIONS, "/v1", "GET", "/v1/models/org/name-1.5", False),
        (WireProtocol.MESSAGES, "", "POST", "/v1/messages?beta=true", True),
        (WireProtocol.MESSAGES, "", "POST", "/v1/messages/count_tokens?beta=true", False),
        (WireProtocol.MESSAGES, "", "POST", "/v1/messages/batches", None),
        (WireProtocol.MESSAGES, "", "HEAD", "/", None),
        (WireProtocol.RESPONSES, "/v1", "POST", "/v1/responses", True),
        (WireProtocol.RESPONSES, "/v1", "POST", "/v1/responses/compact", True),
        (WireProtocol.RESPONSES, "/v1", "GET", "/v1/responses/resp_1", False),
        (WireProtocol.RESPONSES, "/v1", "POST", "/v1/chat/completions", None),
        (WireProtocol.GENERATE_CONTENT, "", "POST", "/v1beta/models/g-2.5:generateContent", True),
        (WireProtocol.GENERATE_CONTENT, "", "POST", "/v1beta/models/g:streamGenerateContent?alt=sse", True),
        (WireProtocol.GENERATE_CONTENT, "", "POST", "/v1beta/models/g:countTokens", False),
        (WireProtocol.GENERATE_CONTENT, "", "POST", "/upload/v1beta/files", None),
        (WireProtocol.GENERATE_CONTENT, "", "GET", "/v1beta/models/g", False),
        (WireProtocol.GENERATE_CONTENT, "", "PATCH", "/v1beta/models/g", None),
        (WireProtocol.CHAT_COMPLETIONS, "/v1", "DELETE", "/v1/models/ft:my-model", None),
        (WireProtocol.CHAT_COMPLETIONS, "/v1", "POST", "/v1/models/ft:my-model", None),
        (WireProtocol.CHAT_COMPLETIONS, "/v1", "HEAD", "/v1/models", False),
        (WireProtocol.CHAT_COMPLETIONS, "/v1", "GET", "/v1/chat/completions", None),
        (WireProtocol.RESPONSES, "/v1", "POST", "/v1/responses/resp_1/cancel", False),
        (WireProtocol.RESPONSES, "/v1", "GET", "/v1/responses/resp_1/input_items", False),
        (WireProtocol.RESPONSES, "/v1", "DELETE", "/v1/responses/resp_1", None),
        (WireProtocol.MESSAGES, "", "PUT", "/v1/messages/count_tokens", None),
    ],
)
def test_each_protocol_has_its_paths(
    protocol: WireProtocol, prefix: str, method: str, path: str, for_an_answer: bool | None
) -> None:
    endpoint = Endpoint(f"https://models.example{prefix}", protocol, "m", KEY)
    admitted = admit(endpoint, method, path)
    assert (None if admitted is None else admitted.for_an_answer) is for_an_answer


def test_a_key_that_reads_otherwise_in_an_address_or_in_json_is_hidden_too() -> None:
    key = 'sk+"0123456789/abcdef'
    text = f"a {quote(key, safe='')} b {json.dumps(key)} c {key} d".encode()
    veil = Veil(key)
    out = b"".join(veil.through(text[at : at + 1]) for at in range(len(text))) + veil.rest()
    assert out == without_stars(text, key)
    assert b"0123456789" not in out


def without_stars(text: bytes, key: str) -> bytes:
    for written in (json.dumps(key)[1:-1], quote(key, safe=""), key):
        text = text.replace(written.encode(), b"*" * len(written))
    return text
