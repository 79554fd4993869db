"""The flags of a benchmark: what they come to, and which words are refused."""

from __future__ import annotations

import pytest
from invoke.parser import Parser, ParserContext

from runner.commands.endpoints import bench_report
from runner.engine.bench.form import bench_form, bench_how, bench_options
from runner.engine.bench.planning import parse_limits
from runner.errors import UsageError
from tests.engine.bench.project import MODEL


def test_the_flags_come_to_options() -> None:
    given = bench_form(
        None, model=[MODEL], suites=["coding,quality"], runs="3", rate="2.5", fail_on=["score<1"]
    )
    options = bench_options(given)
    assert (options.models, options.suites, options.runs) == ((MODEL,), ("coding", "quality"), 3)
    assert (options.loads, options.thresholds) == (("poisson=2.5",), ("score<1",))
    assert bench_how({**given, "resume": True})["resume"] == "latest"
    assert (options.seed, options.concurrency, options.external_offset) == (1, 1, 0)
    no_numbers = (
        ("runs", "two"),
        ("runs", "-1"),
        ("load_requests", "0"),
        ("budget_usd", "much"),
        ("seed", "x"),
        ("seed", "9" * 5000),
        ("concurrency", "many"),
        ("external_offset", "-1"),
    )
    for flag, value in no_numbers:
        with pytest.raises(UsageError, match="must be"):
            bench_options({**given, flag: value})


def test_a_report_takes_its_run_with_and_without_the_flag() -> None:
    for argv in (["bench-report", "latest"], ["bench-report", "--run", "latest"]):
        parser = Parser([ParserContext(name="bench-report", args=bench_report.get_arguments())])
        assert parser.parse_argv(argv)[0].args["run"].value == "latest"


def test_limits_are_named_figures() -> None:
    assert parse_limits(["ttft_ms=800, tpot_ms=50"]) == {"ttft_ms": 800.0, "tpot_ms": 50.0}
    for text in ("ttft_ms", "ttft_ms=fast", "ttft_ms=-1", "ttft_ms=nan", "ttft_ms=inf", "speed=1"):
        with pytest.raises(UsageError):
            parse_limits([text])
