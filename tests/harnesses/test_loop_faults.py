"""What goes wrong at the model's end: the loop recovers or gives up in order, and counts what it was told."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runner.harnesses.endpoint import TokenPrices
from runner.harnesses.loop import Loop
from runner.harnesses.loop_agent.job import Patience
from runner.harnesses.loop_stream import read_stream
from runner.records import CacheSemantics, DataWarning, Limits
from tests.harnesses.rig import KEY, QUICK, RUN, Rig, assert_counts_agree, open_rig, turn
from tests.harnesses.samples import classes
from tests.ports import held_port


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with open_rig(tmp_path) as opened:
        yield opened


def codes(warnings: Iterable[DataWarning]) -> list[str]:
    return [warning.code for warning in warnings]


def test_a_plain_run_does_the_work_and_agrees_with_the_server(rig: Rig) -> None:
    result = rig.run()
    assert (result.exit_code, result.stderr) == (0, b"")
    assert result.reading.stop_reason == "finished"
    assert not result.reading.is_error
    assert (result.reading.turns, result.reading.retries) == (4, 0)
    assert (rig.workspace / "a.py").read_text(encoding="utf-8") == "x = 2\ny = 1\n"
    assert (rig.artifacts / "implementation.md").exists()
    assert_counts_agree(result.reading, result.count)
    assert result.reading.warnings == ()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_request_that_fails_twice_is_repeated_and_counted_once(rig: Rig, status: int) -> None:
    result = rig.run(f"first2-e{status}", "retryafter0")
    assert result.reading.stop_reason == "finished"
    assert (result.reading.turns, result.reading.retries) == (4, 2)
    assert result.count.errors == {status: 2}
    assert_counts_agree(result.reading, result.count)
    assert result.reading.warnings == ()


@pytest.mark.parametrize(
    ("fault", "requests"), [("e400", 1), ("e401", 1), ("e403", 1), ("e500", 3), ("e429", 3)]
)
def test_an_error_that_stays_ends_the_run_with_its_text(rig: Rig, fault: str, requests: int) -> None:
    result = rig.run(fault, "retryafter0")
    assert result.exit_code == 1
    assert result.reading.stop_reason == "model-error"
    assert result.reading.is_error
    assert fault[1:] in str(result.reading.error)
    assert result.count.requests == requests
    assert result.reading.turns == 0
    # Refused requests use no tokens, which is known.
    assert classes(result.reading.usage) == (0, 0, 0, 0, 0)
    assert result.reading.warnings == (), "nothing was answered, so nothing is missing"


def test_a_late_error_keeps_what_was_used_before_it(rig: Rig) -> None:
    result = rig.run("late-e400")
    assert (result.reading.stop_reason, result.reading.turns) == ("model-error", 1)
    assert_counts_agree(result.reading, result.count)


@pytest.mark.parametrize("fault", ["cut", "malformed"])
def test_an_answer_that_breaks_off_once_is_asked_for_again_and_leaves_a_lower_bound(
    rig: Rig, fault: str
) -> None:
    result = rig.run(f"first1-{fault}")
    assert result.reading.stop_reason == "finished"
    assert (result.reading.turns, result.reading.retries) == (4, 1)
    assert_counts_agree(result.reading, result.count)
    assert result.count.unreported_answers == 1
    assert result.count.unreported.output > 0
    assert codes(result.reading.warnings) == ["usage-is-lower-bound"]
    assert "1 of 5" in result.reading.warnings[0].text


@pytest.mark.parametrize("fault", ["cut", "malformed"])
def test_answers_that_always_break_off_end_the_run_without_a_usage(rig: Rig, fault: str) -> None:
    result = rig.run(fault)
    assert (result.reading.stop_reason, result.reading.usage) == ("model-error", None)
    assert result.count.broken == 3
    assert codes(result.reading.warnings) == ["usage-is-lower-bound"]
    assert "3 of 3" in result.reading.warnings[0].text


def test_a_server_without_usage_leaves_it_unknown_and_never_zero(rig: Rig) -> None:
    result = rig.run("nousage")
    assert (result.reading.stop_reason, result.reading.turns) == ("finished", 4)
    assert result.reading.usage is None
    assert codes(result.reading.warnings) == ["usage-not-reported"]


def test_one_answer_without_usage_makes_every_sum_unknown(rig: Rig) -> None:
    result = rig.run("first1-nousage")
    usage = result.reading.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (None, None, None)
    assert (usage.cache_write_tokens, usage.reasoning_tokens) == (None, None)
    assert usage.sources == {}


def test_without_cache_detail_the_whole_prompt_is_known_and_its_cached_part_is_not(rig: Rig) -> None:
    result = rig.run("nocache")
    usage = result.reading.usage
    assert usage is not None
    assert usage.cache_semantics is CacheSemantics.PARTITION
    assert usage.input_tokens == result.count.reported.prompt
    assert (usage.cache_read_tokens, usage.reasoning_tokens) == (None, None)
    assert usage.output_tokens == result.count.reported.output


def test_a_silent_server_is_given_up_after_the_attempts(rig: Rig) -> None:
    patience = Patience(attempts=2, base_seconds=0.01, cap_seconds=0.1, silence_seconds=1.0)
    result = replace(rig, loop=Loop(patience=patience)).run("hang")
    assert result.reading.stop_reason == "model-error"
    assert "no answer in time" in str(result.reading.error)
    assert result.count.requests == 2


def test_an_answer_that_stalls_in_the_middle_is_given_up_too(rig: Rig) -> None:
    patience = Patience(attempts=1, silence_seconds=1.0)
    result = replace(rig, loop=Loop(patience=patience)).run("stall")
    assert result.reading.stop_reason == "model-error"
    assert codes(result.reading.warnings) == ["usage-is-lower-bound"]


def test_the_time_limit_ends_a_hanging_run_before_the_supervisor_does(rig: Rig) -> None:
    result = rig.with_limits(Limits(timeout_seconds=3.0)).run("late-hang")
    assert (result.reading.limit_hit, result.exit_code) == ("time", 3)
    assert result.reading.turns == 1
    assert_counts_agree(result.reading, result.count)


def test_a_killed_run_still_yields_what_it_used(rig: Rig) -> None:
    result = rig.run("late-hang", until=lambda: rig.server.count(RUN).requests > 1)
    assert result.exit_code == -signal.SIGKILL
    assert (result.reading.stop_reason, result.reading.is_error) == ("no-end", True)
    assert result.reading.turns == 1
    assert_counts_agree(result.reading, result.count)
    assert codes(result.reading.warnings) == ["usage-is-lower-bound"]


def test_a_terminated_run_says_so(rig: Rig) -> None:
    launch = rig.loop.launch(
        rig.assignment(rig.server.url_for(run=RUN, scenario="demo/t", faults=["late-hang"]) + "/v1")
    )
    with subprocess.Popen(
        launch.command,
        env=dict(launch.environment),
        cwd=launch.working_directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(launch.stdin)
        child.stdin.close()
        lines: list[bytes] = []
        while b'"turn": 2' not in (lines or [b""])[-1]:
            lines.append(child.stdout.readline())
            assert lines[-1], "it ended before its second turn"
        child.send_signal(signal.SIGTERM)
        lines.append(child.stdout.read())
    (rig.folder / "stdout").write_bytes(b"".join(lines))
    reading = read_stream(rig.folder / "stdout")
    assert (reading.stop_reason, reading.turns) == ("terminated", 1)
    assert codes(reading.warnings) == ["usage-is-lower-bound"]


def test_nothing_listening_is_a_clear_error(rig: Rig) -> None:
    with held_port() as port:
        result = rig.run_at(f"http://127.0.0.1:{port}/v1")
    assert result.reading.stop_reason == "model-error"
    assert "ConnectError" in str(result.reading.error)
    assert result.reading.retries == QUICK.attempts - 1


def test_an_unknown_task_ends_the_run_with_the_servers_words(rig: Rig) -> None:
    result = rig.run(scenario="demo/tt")
    assert result.reading.stop_reason == "model-error"
    assert "did you mean 't'?" in str(result.reading.error)


@pytest.mark.parametrize(
    ("limits", "prices", "hit"),
    [
        (Limits(max_turns=2), None, "turns"),
        (Limits(max_tokens=50_000), None, "tokens"),
        (Limits(max_cost_usd=0.03), TokenPrices(input=1.0, output=10.0, cache_read=0.5), "cost"),
    ],
)
def test_a_limit_stops_the_run_and_is_named(
    rig: Rig, limits: Limits, prices: TokenPrices | None, hit: str
) -> None:
    result = rig.with_limits(limits, prices).run()
    assert (result.reading.limit_hit, result.exit_code) == (hit, 3)
    assert not result.reading.is_error
    turns = result.reading.turns
    assert turns is not None
    assert 0 < turns < 4
    assert_counts_agree(result.reading, result.count)


def test_a_cost_limit_without_prices_is_said_to_be_unenforced(rig: Rig) -> None:
    result = rig.with_limits(Limits(max_cost_usd=0.000001)).run()
    assert result.reading.stop_reason == "finished"
    assert codes(result.reading.warnings) == ["limit-not-enforced"]


def test_a_token_limit_without_usage_is_said_to_be_unenforced(rig: Rig) -> None:
    result = rig.with_limits(Limits(max_tokens=1)).run("nousage")
    assert result.reading.stop_reason == "finished"
    assert "limit-not-enforced" in codes(result.reading.warnings)


def test_the_key_is_in_no_output_no_argument_and_no_command_of_the_model(tmp_path: Path) -> None:
    spying = {"do": "shell", "command": "env; cat /proc/$PPID/environ | tr '\\0' '\\n'; ls /proc/self/fd"}
    with open_rig(tmp_path, (turn(0, spying), turn(1))) as opened:
        result = opened.run()
    assert result.reading.stop_reason == "finished"
    assert KEY.encode() not in result.stdout + result.stderr + result.launch.stdin
    assert not any(KEY in part for part in result.launch.command)
    assert "HARNESSMARK_API_KEY=xxx" in result.tools()[0][2], "the parent's environment was really read"
    assert KEY not in repr(result.launch)


def test_a_workspace_that_poses_as_our_modules_is_not_imported(rig: Rig) -> None:
    for name in ("httpx.py", "json.py", "sitecustomize.py"):
        (rig.workspace / name).write_text("raise SystemExit('hijacked')\n", encoding="utf-8")
    (rig.workspace / "runner").mkdir()
    (rig.workspace / "runner" / "__init__.py").write_text("raise SystemExit('hijacked')\n", encoding="utf-8")
    assert rig.run().reading.stop_reason == "finished"


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff\xfe", b'{"format": 1}', b"[" * 200_000])
def test_a_document_that_is_no_job_ends_with_two(rig: Rig, data: bytes) -> None:
    launch = rig.loop.launch(rig.assignment("http://127.0.0.1:1/v1"))
    done = subprocess.run(
        launch.command, input=data, env=dict(launch.environment), capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"bad-job" in done.stdout
    assert b"Traceback" not in done.stderr
