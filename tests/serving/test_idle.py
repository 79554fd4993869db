"""No level begins before the server has nothing left to do."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import httpx
import pytest

from runner.errors import EndpointError
from runner.serving.idle import Business, read_business, wait_until_idle

URL = "http://127.0.0.1:1/metrics"


def answering(text: str, status: int = 200) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(status, text=text))


def page(running: Sequence[float], waiting: Sequence[float]) -> str:
    lines = ["# TYPE vllm:num_requests_running gauge"]
    lines += [f'vllm:num_requests_running{{engine="{n}"}} {value}' for n, value in enumerate(running)]
    lines.append("# TYPE vllm:num_requests_waiting gauge")
    lines += [f'vllm:num_requests_waiting{{engine="{n}"}} {value}' for n, value in enumerate(waiting)]
    return "\n".join(lines) + "\n"


def refused(_request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


class Server:
    """Is as busy as it is told to be, look after look; each look takes a second."""

    def __init__(self, *business: tuple[float, float]) -> None:
        self.business = [Business(*each) for each in business]
        self.looks = 0

    def look(self) -> Business:
        self.looks += 1
        return self.business[min(self.looks, len(self.business)) - 1]

    def clock(self) -> float:
        return float(self.looks)

    def wait(self, limit: float = 100.0, stop: threading.Event | None = None) -> tuple[float, list[str]]:
        said: list[str] = []
        waited = wait_until_idle(
            self.look,
            limit_seconds=limit,
            stop=stop or threading.Event(),
            say=said.append,
            clock=self.clock,
            look_seconds=0,
        )
        return waited, said


def test_running_and_waiting_requests_of_all_engines_count() -> None:
    found = read_business(URL, transport=answering(page([1, 2], [0, 4])))
    assert (found.running, found.waiting, found.idle) == (3, 4, False)
    assert read_business(URL, transport=answering(page([0, 0], [0]))).idle


def test_a_server_must_be_idle_twice_in_a_row() -> None:
    server = Server((0, 0), (1, 0), (0, 0), (0, 2), (0, 0), (0, 0), (9, 9))
    waited, said = server.wait()
    assert (server.looks, waited) == (6, 6)
    assert said == ["waits for the server: 1 running, 0 waiting"]


def test_a_server_that_somebody_else_uses_is_named_with_what_it_does() -> None:
    with pytest.raises(
        EndpointError, match=r"after 5 s the server still has 2 requests running and 7 waiting"
    ):
        Server((2, 7)).wait(limit=5)


def test_a_stopped_sweep_waits_no_longer() -> None:
    stop = threading.Event()
    stop.set()
    server = Server((2, 7))
    server.wait(stop=stop)
    assert server.looks == 0


@pytest.mark.parametrize(
    ("transport", "complaint"),
    [
        (answering("", 503), "status 503"),
        (answering("<html>"), "no metric"),
        (answering(page([1], [])), "does not tell vllm:num_requests_waiting"),
        (
            httpx.MockTransport(refused),
            "refused",
        ),
    ],
)
def test_a_page_that_does_not_tell_is_an_error(transport: httpx.MockTransport, complaint: str) -> None:
    with pytest.raises(EndpointError, match=complaint):
        read_business(URL, transport=transport)


def test_a_key_is_sent_as_a_bearer_token() -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, text=page([0], [0]))

    read_business(URL, "the-key", transport=httpx.MockTransport(answer))
    assert seen == ["Bearer the-key"]
