"""Probing a server: address, key, model, window and protocols, told apart, without a token spent."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ProviderSettings
from runner.providers.checks import Check, CheckState
from runner.providers.compatible import CompatibleEndpoint
from runner.replay import ReplayServer
from tests.providers.servers import NOBODY, Answer, Seen, api, raw
from tests.replay.tapes import tape

KEY = "key-of-the-tests-0123456789"
CHAT, MESSAGES, RESPONSES = WireProtocol.CHAT_COMPLETIONS, WireProtocol.MESSAGES, WireProtocol.RESPONSES
PATHS = {"/v1/chat/completions": CHAT, "/v1/messages": MESSAGES, "/v1/responses": RESPONSES}
MODELS: dict[str, object] = {"data": [{"id": "m", "max_model_len": 131_072}]}


def checks(base_url: str | None, *, model: str = "m", key: bool = True, **more: object) -> list[Check]:
    settings = ProviderSettings(
        base_url=base_url,
        api_key_env="SOME_KEY" if key else None,
        protocols=more.get("protocols", ()),  # type: ignore[arg-type]
    )
    return list(CompatibleEndpoint().checks(model, settings, {"SOME_KEY": KEY}))


def failed(found: list[Check]) -> list[Check]:
    return [check for check in found if check.state is CheckState.FAIL]


def named(found: list[Check], name: str) -> Check:
    [check] = [check for check in found if check.name == name]
    return check


class Server:
    """Answers as told; anything else as a good server does."""

    def __init__(
        self,
        speaks: tuple[WireProtocol, ...] = tuple(PATHS.values()),
        models: Answer | None = None,
        post: Answer = (400, {"error": {"message": "messages must be a list"}}),
    ) -> None:
        self.speaks, self.models, self.post = speaks, models, post

    def __call__(self, seen: Seen) -> Answer:
        if seen.method == "GET":
            return self.models or ((200, MODELS) if seen.path == "/v1/models" else (404, {}))
        if PATHS.get(seen.path) not in self.speaks:
            return 404, {"detail": "Not Found"}
        return self.post


def test_a_good_server_passes_everything_and_tells_its_window() -> None:
    with api(Server()) as server:
        found = checks(server.base_url)
    assert [check.state for check in found] == [CheckState.PASS] * len(found)
    assert named(found, "context window").window == 131_072
    assert {check.name for check in found} >= {"endpoint", "served model", "credentials"} | {
        f"protocol {protocol}" for protocol in PATHS.values()
    }


def test_no_request_could_be_answered_and_one_token_would_be_the_most() -> None:
    with api(Server()) as server:
        checks(server.base_url)
    posts = [json.loads(seen.body) for seen in server.seen if seen.method == "POST"]
    assert len(posts) == 3
    for body in posts:
        assert body["model"] == "m"
        assert not isinstance(body.get("messages", body.get("input")), list)
        assert body.get("max_tokens", body.get("max_output_tokens")) == 1


def test_the_key_is_sent_as_each_protocol_wants_it_and_never_shown() -> None:
    with api(Server(post=(400, {"error": {"message": f"your key {KEY} is fine"}}))) as server:
        found = checks(server.base_url)
    by_path = {seen.path: seen.headers for seen in server.seen}
    assert by_path["/v1/messages"]["x-api-key"] == KEY
    assert by_path["/v1/chat/completions"]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(found)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 502])
def test_a_key_in_the_words_of_a_refusal_is_blanked_out(status: int) -> None:
    refusal: Answer = (status, {"error": {"message": f"the model key {KEY} is wrong"}})
    for answers in (Server(models=refusal), Server(post=refusal)):
        with api(answers) as server:
            assert KEY not in repr(checks(server.base_url))


def test_nobody_at_the_address_is_found_in_no_time() -> None:
    [check] = checks(f"{NOBODY}/v1")
    assert (check.name, check.state) == ("endpoint", CheckState.FAIL)
    assert "nothing listens" in check.found


def test_an_endpoint_that_hangs_ends_in_ten_seconds() -> None:
    assert CompatibleEndpoint().patience == 10
    with raw(b"") as address:
        settings = ProviderSettings(base_url=f"{address}/v1")
        [check] = CompatibleEndpoint(patience=0.5).checks("m", settings, {})
    assert "no answer within 0.5 seconds" in check.found


@pytest.mark.parametrize(
    ("told", "name", "words", "fix"),
    [
        ((401, {"error": "no"}), "credentials", "not accept the key in SOME_KEY (401)", "export SOME_KEY="),
        ((403, {}), "credentials", "does not allow it this (403)", "--api-key-env"),
        ((500, {"error": {"message": "out of memory"}}), "endpoint", "(500): out of memory", "log"),
        ((503, {}), "endpoint", "the server fails (503)", "log"),
        ((200, "<html>sign in</html>"), "endpoint", "no list of models", "--endpoint"),
        ((200, {"object": "error"}), "endpoint", "no list of models", "--endpoint"),
        ((200, "[" * 100_000), "endpoint", "no list of models", "--endpoint"),
        ((301, ({"Location": "https://h/v1/models"}, "")), "endpoint", "redirects (301)", " https://h/v1"),
        ((200, {"data": [{"id": "other"}]}), "served model", "m is not served", "--model other"),
    ],
)
def test_each_fault_of_the_list_of_models_has_its_cause_and_fix(
    told: Answer, name: str, words: str, fix: str
) -> None:
    with api(Server(models=told)) as server:
        [check] = failed(checks(server.base_url))
        assert not [seen for seen in server.seen if seen.method == "POST"]
    assert check.name == name
    assert words in check.found
    assert fix in check.fix


def test_a_server_that_wants_a_key_and_gets_none_is_told_apart_from_a_wrong_key() -> None:
    with api(Server(models=(401, {}))) as server:
        [check] = failed(checks(server.base_url, key=False))
    assert "wants a key, and none was sent" in check.found
    assert "--api-key-env" in check.fix


def test_a_server_without_a_list_of_models_is_known_by_its_protocols() -> None:
    with api(Server(models=(404, {}))) as server:
        found = checks(server.base_url)
    assert not failed(found)
    assert named(found, "endpoint").state is CheckState.WARN
    assert "--context-window" in named(found, "endpoint").fix


def test_an_address_that_lacks_its_version_is_put_right() -> None:
    with api(Server()) as server:
        [check] = checks(server.address)
    assert check.fix == f"--endpoint {server.base_url}"


def test_a_missing_protocol_offers_one_that_is_there() -> None:
    with api(Server(speaks=(CHAT,))) as server:
        found = checks(server.base_url, protocols=(MESSAGES,))
    [check] = failed(found)
    assert check.name == "protocol messages"
    assert "--protocol chat-completions" in check.fix


def test_a_server_with_no_route_at_all_has_another_address() -> None:
    with api(Server(speaks=())) as server:
        [check] = failed(checks(server.base_url, protocols=(CHAT,)))
    assert "it ends where the API begins" in check.fix


@pytest.mark.parametrize(
    ("status", "name", "state"),
    [
        (200, "protocol chat-completions", CheckState.PASS),
        (400, "protocol chat-completions", CheckState.PASS),
        (422, "protocol chat-completions", CheckState.PASS),
        (402, "protocol chat-completions", CheckState.WARN),
        (429, "protocol chat-completions", CheckState.WARN),
        (500, "protocol chat-completions", CheckState.WARN),
        (405, "protocol chat-completions", CheckState.FAIL),
        (401, "credentials", CheckState.FAIL),
        (403, "credentials", CheckState.FAIL),
    ],
)
def test_the_answer_to_an_impossible_request_tells_whether_the_route_exists(
    status: int, name: str, state: CheckState
) -> None:
    with api(Server(post=(status, {}))) as server:
        found = checks(server.base_url, protocols=(CHAT,))
    assert named(found, name).state is state


def test_a_list_that_is_open_to_all_does_not_make_a_key_valid() -> None:
    with api(Server(post=(401, {"error": {"message": "bad key"}}))) as server:
        found = checks(server.base_url)
    assert [check.name for check in found if check.state is CheckState.PASS].count("credentials") == 0
    assert named(found, "credentials").state is CheckState.FAIL


def test_a_route_that_does_not_know_the_model_is_not_taken_for_a_missing_route() -> None:
    unknown: Answer = (404, {"error": {"message": "The model `m` does not exist"}})
    with api(Server(models=(404, {}), post=unknown)) as server:
        check = named(checks(server.base_url, protocols=(CHAT,)), "protocol chat-completions")
    assert (check.state, check.fix) == (CheckState.FAIL, "correct --model")


def test_a_server_that_hangs_at_the_probe_alone_fails_too() -> None:
    over = threading.Event()

    def slow(seen: Seen) -> Answer:
        if seen.method == "POST":
            over.wait(60)
        return Server()(seen)

    with api(slow) as server:
        settings = ProviderSettings(base_url=server.base_url, protocols=(CHAT, MESSAGES))
        # Long enough for the list of models, which comes first, on a busy machine too.
        found = list(CompatibleEndpoint(patience=3).checks("m", settings, {}))
        over.set()
    assert "no answer within 3 seconds" in named(found, "protocol chat-completions").found
    assert len(failed(found)) == 1


@pytest.mark.parametrize("base_url", [None, "ftp://h/v1", "http://user:secret@h/v1", "http://h:99999/v1"])
def test_an_address_that_is_none_is_a_failed_check_and_no_exception(base_url: str | None) -> None:
    [check] = checks(base_url)
    assert (check.name, check.state) == ("endpoint", CheckState.FAIL)
    assert check.fix or "malformed" in check.found
    assert "secret" not in repr(check)


def test_a_key_that_is_not_set_is_named_by_its_variable() -> None:
    settings = ProviderSettings(base_url="http://127.0.0.1:9/v1", api_key_env="NOT_SET")
    [check] = CompatibleEndpoint().checks("m", settings, {})
    assert (check.name, check.fix) == ("credentials", "export NOT_SET=...")


def test_a_protocol_of_another_kind_of_server_is_refused() -> None:
    with api(Server()) as server:
        [check] = failed(checks(server.base_url, protocols=(WireProtocol.BEDROCK_INVOKE,)))
    assert check.name == "protocol bedrock-invoke"


def test_the_replay_server_passes_where_a_run_points_to_and_fails_at_its_root(tmp_path: Path) -> None:
    with ReplayServer(tape(tmp_path)) as server:
        of_a_run = server.url_for(run="r", scenario="demo/t") + "/v1"
        assert not failed(checks(of_a_run, key=False))
        assert {check.name for check in failed(checks(f"{server.base_url}/v1", key=False))} == {
            f"protocol {protocol}" for protocol in PATHS.values()
        }
        count = server.count("r")
    assert (count.answered, count.errors) == (0, {400: 3})
