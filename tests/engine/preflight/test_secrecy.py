"""Secrecy: a key in the settings is refused before it is written, one that cannot be masked is said."""

from __future__ import annotations

import pytest

from runner.engine.places import Places
from runner.engine.planning import Group
from runner.engine.preflight.flight import Flight, look
from runner.engine.preflight.inquiry import inquire
from runner.engine.preflight.question import Line, Question
from runner.engine.preflight.secrecy import fields_with_secrets, secrecy_checks
from runner.engine.resolution import complete, resolve
from runner.engine.settings import RunSettings
from runner.providers.checks import Check, CheckState
from runner.secrets import MASK
from tests.engine.runs import demonstration
from tests.secrets.planted import planted

KEY = "key-of-this-machine-0123456789"


def group(places: Places, **settings: object) -> Group:
    whole = complete(RunSettings(**settings), places)  # type: ignore[arg-type]
    return Group(whole, resolve(whole, places))


@pytest.mark.parametrize("field", ["precision", "instance_type", "effort", "model"])
@pytest.mark.parametrize("secret", [KEY, planted()["github-token"]])
def test_a_secret_in_any_setting_is_named_by_its_field(places: Places, field: str, secret: str) -> None:
    settings = RunSettings(**{field: secret})  # type: ignore[arg-type]
    scanner = places.scanner({"SOME_KEY": KEY}, ["SOME_KEY"])
    assert list(fields_with_secrets(settings, scanner)) == [field]


def test_ordinary_settings_hold_no_secret(places: Places) -> None:
    whole = group(places, endpoint=None, api_key_env="SOME_KEY", effort="high", trials=3)
    checks = list(secrecy_checks([whole], places.scanner({"SOME_KEY": KEY}), {"SOME_KEY": KEY}, ["SOME_KEY"]))
    assert [check.state for check in checks] == [CheckState.PASS]


def test_a_key_too_short_to_be_masked_is_a_warning(places: Places) -> None:
    environment = {"SOME_KEY": "abc"}
    scanner = places.scanner(environment, ["SOME_KEY"])
    checks = list(secrecy_checks([group(places)], scanner, environment, ["SOME_KEY"]))
    assert [check.state for check in checks] == [CheckState.PASS, CheckState.WARN]
    assert "abc" not in repr(checks)


def test_a_secret_that_a_server_repeats_is_masked_in_the_report(places: Places) -> None:
    environment = {"SOME_KEY": KEY}
    said = Check("endpoint", CheckState.FAIL, f"refused {KEY}", f"do not send {KEY}")
    lines = inquire([Question("m", lambda: [said])])
    flight = Flight(
        [group(places, model="replay-careful", count=1)],
        places,
        environment,
        places.scanner(environment, ["SOME_KEY"]),
        demonstration(places),
        ["SOME_KEY"],
        known=lines,
    )
    report = look(flight)
    assert KEY not in repr(report)
    assert (
        Line("m", Check("endpoint", CheckState.FAIL, f"refused {MASK}", f"do not send {MASK}"))
        in report.lines
    )
