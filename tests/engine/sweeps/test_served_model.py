"""A model that the server does not list is refused before anything is measured."""

from __future__ import annotations

import httpx
import pytest

from runner.engine.sweeps.served_model import require_served
from runner.errors import EndpointError
from runner.harnesses.endpoint import Endpoint, WireProtocol


def ask(
    reply: httpx.Response,
    model: str = "m",
    protocol: WireProtocol = WireProtocol.CHAT_COMPLETIONS,
    base_url: str = "http://server/v1",
) -> tuple[list[str], list[httpx.Request]]:
    """What is said, and what is asked, of a server that answers so."""
    said: list[str] = []
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return reply

    endpoint = Endpoint(base_url, protocol, model, "secret-key")
    require_served(endpoint, "MY_KEY", said.append, httpx.MockTransport(handle))
    return said, seen


def listing(*names: str) -> httpx.Response:
    return httpx.Response(200, json={"data": [{"id": name} for name in names]})


@pytest.mark.parametrize(
    ("protocol", "base_url"),
    [(WireProtocol.CHAT_COMPLETIONS, "http://server/v1"), (WireProtocol.MESSAGES, "http://server")],
)
def test_a_listed_model_is_fine_wherever_the_protocol_begins(protocol: WireProtocol, base_url: str) -> None:
    said, (request,) = ask(listing("other", "m"), protocol=protocol, base_url=base_url)
    assert said == []
    assert str(request.url) == "http://server/v1/models"
    assert request.headers["authorization"] == "Bearer secret-key"


def test_a_model_that_is_not_listed_is_refused_with_the_list_and_a_remedy() -> None:
    with pytest.raises(EndpointError) as caught:
        ask(listing("glm-5.2", "qwen3"), model="glm-5.1")
    assert "glm-5.1 is not served; it serves: glm-5.2, qwen3" in caught.value.what
    assert caught.value.remedy == "--model glm-5.2"


@pytest.mark.parametrize("reply", [httpx.Response(404), httpx.Response(405), httpx.Response(200, text="hi")])
def test_a_server_without_a_list_is_gone_on_with_and_that_is_said(reply: httpx.Response) -> None:
    said, _ = ask(reply)
    assert said == ["the server has no list of models: whether it serves m is not checked"]


@pytest.mark.parametrize(
    ("status", "complaint"),
    [(401, "MY_KEY"), (403, "MY_KEY"), (500, "fails"), (307, "redirect"), (429, "429")],
)
def test_a_server_that_refuses_or_fails_is_not_measured(status: int, complaint: str) -> None:
    with pytest.raises(EndpointError) as caught:
        ask(httpx.Response(status, json={"error": {"message": "no"}}))
    assert complaint in caught.value.what
    assert "secret-key" not in f"{caught.value.what}{caught.value.remedy}"


def test_nothing_is_asked_where_a_protocol_has_no_such_list() -> None:
    assert ask(listing(), protocol=WireProtocol.BEDROCK_CONVERSE) == ([], [])
