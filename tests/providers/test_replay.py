"""The provider ``replay``: one server for a whole run, one session per model."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from runner.errors import ConfigurationError, UsageError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ProviderSettings
from runner.providers.replay import Replay, ReplaySession
from runner.records import Hosting
from tests.replay.tapes import request, tape

CHAT = WireProtocol.CHAT_COMPLETIONS


@pytest.fixture
def settings(tmp_path: Path) -> ProviderSettings:
    tape(tmp_path, model="n", context_window=99)
    return ProviderSettings(cassettes=str(tape(tmp_path)))


def test_all_sessions_of_a_run_share_one_server_that_stops_with_the_last(settings: ProviderSettings) -> None:
    found = Replay()
    with ExitStack() as stack:
        first = stack.enter_context(found.session("m", settings, {}))
        with found.session("n", settings, {}) as second:
            assert isinstance(first, ReplaySession)
            assert isinstance(second, ReplaySession)
            assert first.server is second.server
            assert second.endpoint(CHAT, run="r", scenario="demo/t").context_window == 99
        address = first.server.base_url
        assert httpx.get(address + "/health", trust_env=False).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(address + "/health", trust_env=False)


def test_run_scenario_and_faults_become_parts_of_the_address(tmp_path: Path) -> None:
    settings = ProviderSettings(cassettes=str(tape(tmp_path)), faults=("first1-e500", "slow1"))
    with Replay().session("m", settings, {}) as session:
        base = session.endpoint(CHAT, run="plan/1 x", scenario="demo/t").base_url
        assert base.endswith("/r/plan%2F1%20x/demo/t/first1-e500/slow1/v1")
        assert [
            httpx.post(base + "/chat/completions", json=request(), trust_env=False).status_code
            for _ in range(2)
        ] == [500, 200]
        assert isinstance(session, ReplaySession)
        assert session.count("plan/1 x").requests == 2


def test_it_is_a_demonstration_that_needs_no_key_of_the_user(settings: ProviderSettings) -> None:
    assert (Replay().demonstration, Replay().hosting) == (True, Hosting.BUILT_IN)
    with Replay().session("m", settings, {"OPENAI_API_KEY": "real"}) as session:
        key = session.endpoint(CHAT, run="r", scenario="demo/t").api_key
    assert "real" not in key
    assert len(key) > 20


def test_an_unknown_model_offers_the_nearest_one_and_leaves_no_server(tmp_path: Path) -> None:
    settings = ProviderSettings(cassettes=str(tape(tmp_path, model="replay-careful")))
    found = Replay()
    with (
        pytest.raises(UsageError, match="did you mean 'replay-careful'"),
        found.session("replay-carefull", settings, {}),
    ):
        pytest.fail("a session of an unknown model")
    assert found._servers == {}


def test_faulty_cassettes_and_faults_are_mistakes_of_the_user(tmp_path: Path) -> None:
    for settings in (
        ProviderSettings(cassettes=str(tmp_path / "nothing")),
        ProviderSettings(cassettes=str(tape(tmp_path / "bad", ["{"]))),
        ProviderSettings(cassettes=str(tape(tmp_path / "good")), faults=("explode",)),
    ):
        with pytest.raises(ConfigurationError), Replay().session("m", settings, {}):
            pytest.fail("a session that cannot be")


def test_requests_are_logged_where_asked(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    settings = ProviderSettings(cassettes=str(tape(tmp_path / "tapes")), request_log=str(log))
    with Replay().session("m", settings, {}) as session:
        base = session.endpoint(CHAT, run="r", scenario="demo/t").base_url
        httpx.post(base + "/chat/completions", json=request(), trust_env=False).raise_for_status()
    assert '"run": "r"' in log.read_text(encoding="utf-8")
