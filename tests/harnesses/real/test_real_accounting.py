"""Real agents: what each records equals what the server counted, class by class, whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.harnesses.accounting import CASES, Case, account_all, cases_of
from runner.harnesses.endpoint import WireProtocol
from runner.harnesses.registry import harness
from tests.harnesses.real.stage import open_stage

BY_NAME = {case.name: case for case in CASES}
MAIN = {
    "claude-code": WireProtocol.MESSAGES,
    "codex": WireProtocol.RESPONSES,
    "copilot": WireProtocol.CHAT_COMPLETIONS,
    "pi": WireProtocol.CHAT_COMPLETIONS,
}
EVERY = [(name, protocol, case) for name, protocol in MAIN.items() for case in cases_of(harness(name))]
OTHER = [
    ("copilot", WireProtocol.MESSAGES, BY_NAME["cut"]),
    ("copilot", WireProtocol.MESSAGES, BY_NAME["plain"]),
    ("copilot", WireProtocol.RESPONSES, BY_NAME["plain"]),
    *(
        ("openhands", WireProtocol.CHAT_COMPLETIONS, BY_NAME[each])
        for each in ("retry", "subagent-foreground", "timeout", "no-usage")
    ),
    ("opencode", WireProtocol.CHAT_COMPLETIONS, BY_NAME["subagent-foreground"]),
    ("opencode", WireProtocol.CHAT_COMPLETIONS, BY_NAME["timeout"]),
    ("opencode", WireProtocol.MESSAGES, BY_NAME["cut"]),
    ("opencode", WireProtocol.RESPONSES, BY_NAME["plain"]),
    ("pi", WireProtocol.MESSAGES, BY_NAME["plain"]),
    ("pi", WireProtocol.MESSAGES, BY_NAME["cut"]),
    ("pi", WireProtocol.RESPONSES, BY_NAME["plain"]),
    ("pi", WireProtocol.RESPONSES, BY_NAME["failure"]),
    ("pi", WireProtocol.BEDROCK_CONVERSE, BY_NAME["plain"]),
    ("pi", WireProtocol.BEDROCK_CONVERSE, BY_NAME["failure"]),
    *(
        ("gemini-cli", WireProtocol.GENERATE_CONTENT, BY_NAME[each])
        for each in ("retry", "cut", "timeout", "no-usage", "subagent-foreground")
    ),
    *(("strands", WireProtocol.CHAT_COMPLETIONS, BY_NAME[each]) for each in ("retry", "timeout", "no-usage")),
    *(("strands", WireProtocol.MESSAGES, BY_NAME[each]) for each in ("plain", "failure", "cut")),
    ("qwen-code", WireProtocol.CHAT_COMPLETIONS, BY_NAME["retry"]),
    ("qwen-code", WireProtocol.CHAT_COMPLETIONS, BY_NAME["subagent-background"]),
    ("qwen-code", WireProtocol.CHAT_COMPLETIONS, BY_NAME["timeout"]),
    ("qwen-code", WireProtocol.MESSAGES, BY_NAME["plain"]),
    ("qwen-code", WireProtocol.RESPONSES, BY_NAME["cut"]),
    *(
        ("claude-code", WireProtocol.BEDROCK_INVOKE, BY_NAME[each])
        for each in ("plain", "failure", "cut", "subagent-background")
    ),
]

FAILS = {"failure", "timeout"}
GIVES_UP = {("gemini-cli", "cut")}
"""An answer that breaks off ends this agent, and nothing is known of what it used."""
LEAVES_OUT = {("qwen-code", WireProtocol.MESSAGES)}
"""Tells neither cache writes nor reasoning; the rest has to agree."""
SUBAGENT_ANSWERS = {"subagent-foreground": 5, "subagent-background": 5}


@pytest.mark.parametrize(
    ("name", "protocol", "case"),
    [pytest.param(*each, id=f"{each[0]}-{each[1].value}-{each[2].name}") for each in EVERY + OTHER],
)
def test_recorded_counts_equal_the_servers_own(
    name: str, protocol: WireProtocol, case: Case, tmp_path: Path
) -> None:
    with open_stage(tmp_path) as stage:
        row = stage.run(name, protocol, case)
        reading = row.reading
        codes = {warning.code for warning in reading.warnings}
        assert row.agrees, (row.recorded, row.true, row.partly)
        assert row.requests > 0
        gives_up = (name, case.name) in GIVES_UP
        assert reading.is_error is (gives_up or case.name in FAILS), reading
        assert (reading.usage is None) is (gives_up or case.name == "no-usage")
        assert ("write" in row.leaves_out) is ((name, protocol) in LEAVES_OUT)
        assert ("usage-not-reported" in codes) is (case.name == "no-usage")
        assert ("usage-is-lower-bound" in codes) is (case.name in {"cut", "timeout"})
        assert reading.costs == ()
        if case.name in SUBAGENT_ANSWERS:
            assert row.answered >= SUBAGENT_ANSWERS[case.name]
            assert reading.turns is not None
            assert reading.turns <= row.answered - 2
        elif not reading.is_error:
            assert reading.turns == 4
            assert "a + b" in (stage.workspace(row) / "calc.py").read_text()
        if case.name in {"retry"}:
            assert reading.retries == 1
        if reading.usage is not None and row.true["fresh"]:
            assert list(reading.usage_by_model) == ["ledger-1"]
            assert reading.usage_by_model["ledger-1"] == reading.usage


def test_a_harness_that_is_not_installed_is_skipped_with_its_reason(tmp_path: Path) -> None:
    with open_stage(tmp_path) as stage:
        account = account_all(
            [harness("codex")],
            server=stage.server,
            folder=tmp_path,
            installed=tmp_path / "nothing",
            start=lambda *_: pytest.fail("it was started"),
            progress=lambda _: None,
        )
    assert account.rows == ()
    assert account.skipped == {"codex": "codex 0.171.0 is not installed; invoke harness-install codex"}
