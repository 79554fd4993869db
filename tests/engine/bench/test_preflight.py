"""Pre-flight of a run: refused parameters are found, left out for this run and told; keys and models too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.acceptance import named_in, other_limits, parts_of
from runner.endpoint.admission import Admission, admission_of
from runner.endpoint.capabilities import Capabilities
from runner.endpoint.request import AskRequest, Message, Protocol, Tool
from runner.endpoint.result import Failure, Outcome, Phase, StreamResult
from runner.engine.bench.command import BenchCall, bench_command
from runner.engine.bench.options import BenchOptions
from runner.errors import ConfigurationError
from runner.records.bench_manifest import BenchManifest, BenchPreflight
from runner.store.bench_run import BenchRun, find_runs, newest
from tests.endpoint.statistics.trials import NOON
from tests.engine.bench.picky import Body, Picky, Refusal, Rule, picky, refused
from tests.engine.bench.project import Project, make_project, options_of

KEY = "sk-correct-horse-battery-staple-0123456789"
VARIABLE = "LOCAL_GATEWAY_KEY"
THINKER = """
schema_version: 1
model: thinker
title: Thinker
mappings:
  - provider: there
    model_id: m
    protocol: chat-completions
    base_url: "{url}"
    capabilities: {{efforts: [none, low, high], thinking: on_request}}
    source: made up
    checked_on: 2026-11-30
"""
CASES = ("seeded_grounded_unknown", "tool_selection_exact")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose own mapping nobody asks here."""
    return make_project(tmp_path, [("one", ())])


def bench(project: Project, server: Picky, **changes: object) -> int:
    usual: dict[str, object] = {"models": ("some-model",), "url": server.url, "api_key_env": VARIABLE}
    options = options_of(**{**usual, "profile": "smoke", "cases": CASES, **changes})
    return bench_command(project.places, project.said.append, BenchCall(options), {VARIABLE: KEY})


def the_run(project: Project) -> BenchRun:
    run = newest(find_runs(project.places.results))
    assert run is not None
    return run


def found(project: Project) -> tuple[BenchManifest, BenchPreflight]:
    manifest = the_run(project).manifest()
    return manifest, manifest.preflight[0]


def unnamed(key: str) -> Rule:
    """A server that refuses ``key`` and says nothing of use."""
    return lambda body: (400, {"error": {"message": "Bad Request", "code": 400}}) if key in body else None


def named(key: str, words: str) -> Rule:
    return lambda body: refused(words) if key in body else None


def only_one_temperature(body: Body) -> Refusal | None:
    message = "Unsupported value: 'temperature' does not support 0.0 with this model. Only 1 is supported."
    return refused(message, param="temperature") if "temperature" in body else None


def only_the_new_name(body: Body) -> Refusal | None:
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    message += "'max_completion_tokens' instead."
    return refused(message, param="max_tokens") if "max_tokens" in body else None


def no_more_than_512(body: Body) -> Refusal | None:
    message = f"max_tokens: {body.get('max_tokens')} > 512, which is the maximum allowed for model-20241022"
    return refused(message) if body.get("max_tokens", 0) > 512 else None


def no_room_for_more_than_700(body: Body) -> Refusal | None:
    asked = body.get("max_tokens", 0)
    message = (
        f"This model's maximum context length is 700 tokens. However, you requested {asked + 16} tokens "
    )
    message += f"(16 in the messages, {asked} in the completion). Please reduce the length."
    return refused(message) if asked + 16 > 700 else None


def no_choice_but_auto(body: Body) -> Refusal | None:
    fault = {"detail": [{"type": "literal_error", "loc": ["body", "tool_choice"], "input": body}]}
    return (422, fault) if body.get("tool_choice") not in {None, "auto"} else None


@pytest.mark.parametrize(
    ("rule", "how", "changes", "gone"),
    [
        (only_one_temperature, "named", {"temperature": False}, "temperature"),
        (only_the_new_name, "named", {"max_output_key": "max_completion_tokens"}, "max_tokens"),
        (no_more_than_512, "named", {"max_output_tokens": 512}, ""),
        (no_room_for_more_than_700, "named", {"context_tokens": 700, "max_output_tokens": 350}, ""),
        (
            named("stream_options", "Unrecognized request argument supplied: stream_options"),
            "named",
            {"parameters": {"stream_options": None}},
            "stream_options",
        ),
        (no_choice_but_auto, "named", {"tool_choice": ["auto", "none", "named"]}, ""),
        (named("tools", "this model does not support tool calling"), "named", {"tools": False}, "tools"),
        (unnamed("temperature"), "left out", {"temperature": False}, "temperature"),
        (unnamed("tools"), "left out", {"tools": False}, "tools"),
        (unnamed("max_tokens"), "left out", {"max_output_key": "max_completion_tokens"}, "max_tokens"),
        (
            unnamed("stream_options"),
            "left out",
            {"parameters": {"stream_options": None}},
            "stream_options",
        ),
    ],
)
def test_a_parameter_that_is_refused_is_found_left_out_and_told_with_what_to_write(
    project: Project, rule: Rule, how: str, changes: dict[str, object], gone: str
) -> None:
    with picky(rule) as server:
        assert bench(project, server) == 0
    manifest, record = found(project)
    trials = the_run(project).trials()
    assert record.changes == changes
    assert [each.how for each in record.findings] == [how]
    requests = [request for trial in trials for request in trial.requests]
    assert {request.outcome for request in requests} == {"ok"}
    # Counted, bounded, and in no trial.
    assert len(server.heard) == record.requests + len(requests)
    assert record.requests <= 9
    counted = server.heard[record.requests :]
    assert all(gone not in body for body in counted) or not gone
    said = "\n".join(project.said)
    assert f"it refuses {record.findings[0].parameter}" in said
    assert next(iter(changes)) in said
    assert "datasets/targets/some-model.yaml" in said
    assert manifest.preflight_missing is None
    summary = the_run(project).summary()
    assert summary is not None
    assert f"local: {record.findings[0].parameter} is refused, and was left out" in "\n".join(summary.flags)


def test_an_endpoint_that_takes_everything_is_asked_once_for_each_way_of_asking(project: Project) -> None:
    with picky(lambda _body: None) as server:
        assert bench(project, server) == 0
    _, record = found(project)
    assert (record.requests, record.findings, record.notes) == (1, (), ())
    asked, *counted = server.heard
    # What is asked is what the run will send, down to the limit of tokens, with one sentence for a prompt.
    same = [body for body in counted if "tools" in body]
    assert {key: asked[key] for key in asked if key != "messages"} == {
        key: same[0][key] for key in same[0] if key != "messages"
    }
    assert len(json.dumps(asked["messages"])) < 150
    assert "pre-flight: unknown cost for 1 request that no figure counts" in project.said
    assert all(head["x-no-cache"] == head["x-no-fallback"] == "true" for head in server.heads)
    assert found(project)[0].targets[0].pinning == {"x-no-cache": "true", "x-no-fallback": "true"}


def test_two_faults_that_nobody_names_are_both_found(project: Project) -> None:
    def rule(body: Body) -> Refusal | None:
        return (400, "no") if {"temperature", "stream_options"} & body.keys() else None

    with picky(rule) as server:
        assert bench(project, server) == 0
    _, record = found(project)
    assert record.changes == {"temperature": False, "parameters": {"stream_options": None}}
    assert record.requests <= 12


def test_an_effort_that_is_refused_is_left_out_and_the_run_says_so(project: Project) -> None:
    rule = named("reasoning_effort", "reasoning_effort is not supported by this model")
    with picky(rule) as server:
        assert bench(project, server, effort="high") == 0
    assert found(project)[1].changes == {"efforts": []}
    adjustments = {each for trial in the_run(project).trials() for each in trial.adjustments}
    assert adjustments == {"effort high left out: the endpoint does not know it"}


@pytest.mark.parametrize(
    ("answer", "why", "remedy"),
    [
        ((401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), "key is not acc", VARIABLE),
        ((400, {"error": {"message": "API key not valid."}}), "key is not accepted", VARIABLE),
        ((402, {"error": {"message": "Insufficient credits"}}), "nothing is left to pay with", "add credit"),
        (
            (429, {"error": {"message": "You exceeded it", "code": "insufficient_quota"}}),
            "nothing is left to pay with",
            "add credit",
        ),
        (
            (404, {"error": {"message": "The model `some-model` does not exist", "code": "model_not_found"}}),
            "there is no such model",
            "it serves: some-model-1.5, another",
        ),
        ((400, {"error": {"message": "some-model is not a valid model ID"}}), "no such model", "look up"),
        ((404, "Not Found"), "no such API is there", "check the address"),
        ((400, {"error": {"message": "nonsense"}}), "no parameter that can be left out", "read its words"),
    ],
)
def test_who_cannot_be_asked_at_all_is_told_with_what_to_do_before_anything_is_spent_or_written(
    project: Project, answer: Refusal, why: str, remedy: str
) -> None:
    with picky(lambda _body: answer) as server, pytest.raises(ConfigurationError) as caught:
        bench(project, server)
    assert why in caught.value.what
    assert remedy in caught.value.remedy
    assert "--no-preflight" in caught.value.remedy
    assert KEY not in str(caught.value)
    assert len(server.heard) <= 2
    assert not project.places.results.exists()


def test_nobody_there_is_told_and_the_other_mapping_may_be_chosen(tmp_path: Path) -> None:
    project = make_project(tmp_path, [("one", ())])
    with picky(lambda _body: None) as server:
        entry = "  - {{provider: {}, model_id: m, protocol: chat-completions, base_url: '{}', source: s, "
        entry += "checked_on: 2026-11-30}}\n"
        text = "schema_version: 1\nmodel: pair\ntitle: Pair\nmappings:\n"
        text += entry.format("there", server.url) + entry.format("gone", "http://127.0.0.1:9/v1")
        (project.places.datasets / "targets" / "pair.yaml").write_text(text, encoding="utf-8")
        options = options_of(models=("pair",), cases=CASES)
        with pytest.raises(ConfigurationError) as caught:
            project.bench(options)
        assert "1 of 2 mappings cannot be asked" in caught.value.what
        assert "gone: nobody is there" in caught.value.what
        assert "--mapping" in caught.value.remedy
        assert project.bench(options_of(models=("pair",), cases=CASES, mappings=("there",))) == 0


def test_a_temperature_that_only_goes_without_thinking_is_kept_there(tmp_path: Path) -> None:
    def rule(body: Body) -> Refusal | None:
        if "temperature" in body and body.get("reasoning_effort") != "none":
            return refused("Unsupported parameter: 'temperature' is not supported with this model.")
        return None

    project = make_project(tmp_path, [("one", ())])
    with picky(rule) as server:
        text = THINKER.format(url=server.url)
        (project.places.datasets / "targets" / "thinker.yaml").write_text(text, encoding="utf-8")
        cases = ("seeded_grounded_unknown", *(f"reasoning_effort_{word}" for word in ("none", "low", "high")))
        assert project.bench(options_of(models=("thinker",), suites=("capability",), cases=cases)) == 0
    _, record = found(project)
    assert record.changes == {"temperature_at_efforts": ["none"]}
    counted = server.heard[record.requests :]
    assert {(body.get("reasoning_effort"), "temperature" in body) for body in counted} == {
        ("none", True),
        # Where no effort is said it is not known what the endpoint takes for it.
        (None, False),
        ("low", False),
        ("high", False),
    }


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ((503, "overloaded"), "http_error 503"),
        # A limit of requests per minute, in the words of some servers for an account that is empty.
        (
            (
                429,
                {
                    "error": {
                        "code": 429,
                        "message": "You exceeded your current quota, please check your plan and billing "
                        "details. Please retry in 12.5s.",
                    }
                },
            ),
            "rate_limited 429",
        ),
    ],
)
def test_a_passing_trouble_is_no_fault_of_ours_and_the_run_begins(
    project: Project, answer: Refusal, named: str
) -> None:
    busy = iter([answer])
    with picky(lambda _body: next(busy, None)) as server:
        assert bench(project, server) == 0
    _, record = found(project)
    assert record.findings == ()
    assert record.notes == (f"one request was not decided: {named}; the run itself will show it",)


def test_a_run_that_goes_on_asks_nothing_again_and_keeps_to_what_was_found(project: Project) -> None:
    with picky(only_one_temperature) as server:
        assert bench(project, server, effort="high") == 0
        run = the_run(project)
        lines = run.trials_path.read_bytes().splitlines(keepends=True)
        run.trials_path.write_bytes(lines[0])
        before = len(server.heard)
        call = BenchCall(BenchOptions(), resume="latest")
        assert bench_command(project.places, project.said.append, call, {VARIABLE: KEY}) == 0
    again = server.heard[before:]
    assert len(again) == len(lines) - 1
    assert all("temperature" not in body and body["reasoning_effort"] == "high" for body in again)


def test_a_dry_run_says_what_would_be_asked_first_and_asks_nothing(project: Project) -> None:
    with picky(only_one_temperature) as server:
        options = options_of(models=("some-model",), url=server.url, api_key_env=VARIABLE, cases=CASES)
        for preflight in (True, False):
            project.said.clear()
            call = BenchCall(replace(options, preflight=preflight), dry_run=True)
            assert bench_command(project.places, project.said.append, call, {}) == 0
            assert any("each mapping is asked" in line for line in project.said) is preflight
        assert not server.heard


def test_without_a_pre_flight_everything_is_sent_as_it_is_and_the_manifest_says_so(project: Project) -> None:
    with picky(only_one_temperature) as server:
        assert bench(project, server, preflight=False) == 3
    manifest = the_run(project).manifest()
    assert (manifest.preflight, manifest.preflight_missing) == ((), "switched off")
    assert all("temperature" in body for body in server.heard)
    summary = the_run(project).summary()
    assert summary is not None
    # A reader is told that this is no reliability of the endpoint's.
    assert any(flag.startswith("2 of 2 requests were refused") for flag in summary.targets[0].flags)


def test_without_responses_the_words_of_a_refusal_are_kept_nowhere(project: Project) -> None:
    with picky(only_one_temperature) as server:
        assert bench(project, server, keep_responses=False) == 0
    assert b"Only 1 is supported" not in the_run(project).manifest_path.read_bytes()


def the_request() -> AskRequest:
    return AskRequest(
        protocol=Protocol.CHAT_COMPLETIONS,
        model="m",
        messages=(Message(role="user", content="x"),),
        tools=(Tool(name="t", description="", parameters={}),),
        tool_choice="required",
        max_output_tokens=1024,
        temperature=0.0,
        effort="none",
        parameters={"seed": 1},
    )


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("invalid_request_error: `temperature` may only be set to 1 when thinking is enabled", "temperature"),
        ("temperature: Extra inputs are not permitted", "temperature"),
        ("(parameter: reasoning_effort) Unsupported value", "effort"),
        ("Reasoning effort 'none' is not supported, and neither is temperature", "effort"),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser', "tool choice"),
        ("No endpoints found that support tool use", "tools"),
        ('{"detail": [{"loc": ["body", "seed"], "input": {"temperature": 0, "tools": []}}]}', "seed"),
        ('{"detail": [{"loc": ["body", "messages"], "input": {"temperature": 0}}]}', None),
        ('Unknown name "seed": Cannot find field.', "seed"),
        ("The server had an error", None),
        ("Invalid seed bank; wrong toolset", None),
    ],
)
def test_the_part_that_an_error_speaks_of_is_told_from_what_it_only_repeats(
    words: str, first: str | None
) -> None:
    can = Capabilities(efforts=("none",), parameters={"seed": 1})
    names = [part.name for part in named_in(words, parts_of(the_request(), can))]
    assert (names[0] if names else None) == first


@given(st.text(max_size=600), st.sampled_from([None, 200, 400, 401, 403, 404, 422, 429, 500]))
def test_no_words_of_an_endpoint_break_the_pre_flight(words: str, status: int | None) -> None:
    can = Capabilities(efforts=("none",), parameters={"seed": 1})
    parts = parts_of(the_request(), can)
    assert set(named_in(words, parts)) <= set(parts)
    for changes in other_limits(the_request(), words):
        assert all(value != 0 for value in changes.values())
    failure = Failure(code=f"http_{status}", message=words, phase=Phase.HEADERS)
    result = StreamResult(
        protocol=Protocol.CHAT_COMPLETIONS,
        started_at=NOON,
        outcome=Outcome.HTTP_ERROR,
        failure=failure,
        http_status=status,
    )
    assert admission_of(result, names_a_part=False) is not Admission.ACCEPTED
