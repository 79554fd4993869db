"""Definitions of endpoint figures come from the code: each figure has one, and none says nothing."""

from __future__ import annotations

from runner.endpoint.result import Outcome
from runner.endpoint.statistics.distribution import MEASURES
from runner.engine.endpoint_definitions import endpoint_definitions

DEFINED = {each.name: each for each in endpoint_definitions()}


def test_every_figure_of_a_request_is_defined_once() -> None:
    assert set(MEASURES) <= DEFINED.keys()
    assert len(DEFINED) == len(endpoint_definitions())


def test_every_way_a_request_can_end_is_defined() -> None:
    assert {outcome.value for outcome in Outcome} <= DEFINED.keys()
    assert DEFINED["timeout_stall"].text.startswith("Nothing more arrived")


def test_a_difference_of_two_moments_is_read_from_the_code() -> None:
    assert DEFINED["queue_ms"].formula == "sent - scheduled"
    assert DEFINED["scheduled_latency_ms"].formula == "last_any - scheduled"
    for each in DEFINED.values():
        for moment in each.formula.split(" - ") if each.formula else []:
            assert moment in DEFINED, (each.name, moment)


def test_no_definition_is_empty_or_talks_of_arguments() -> None:
    for each in DEFINED.values():
        assert each.text or each.formula, each.name
        assert "Args:" not in each.text
        assert "Source: measurement" not in each.text
        assert each.text.count("``") % 2 == 0, each.name
