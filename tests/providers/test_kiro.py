"""The provider kiro: its key, what its program says of it, and the mark of a stand-in."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.providers.base import ProviderSettings
from runner.providers.checks import Check, CheckState
from runner.providers.kiro import Kiro
from runner.records import Hosting
from tests.harnesses.kiro_standin import REFUSED_KEY, put_stand_in

KEY = "kiro-key-of-a-test-0123456789"


@pytest.fixture
def kiro(tmp_path: Path) -> Kiro:
    return Kiro(search_path=f"{put_stand_in(tmp_path).parent}:/usr/bin:/bin")


def real(folder: Path, script: str) -> Kiro:
    """A program without the mark, which does what ``script`` says."""
    program = folder / "kiro-cli"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return Kiro(search_path=f"{folder}:/usr/bin:/bin", whoami_seconds=1.0)


def checks(provider: Kiro, key: str = KEY, price: float | None = 0.04) -> list[Check]:
    settings = ProviderSettings(dollars_per_credit=price)
    return list(provider.checks("auto", settings, {"KIRO_API_KEY": key} if key else {}))


def test_its_endpoint_has_no_address_and_carries_key_and_price(kiro: Kiro) -> None:
    settings = ProviderSettings(dollars_per_credit=0.02)
    with kiro.session("auto", settings, {"KIRO_API_KEY": KEY}) as session:
        endpoint = session.endpoint(WireProtocol.MANAGED, run="r", scenario="d/t")
        assert (endpoint.base_url, endpoint.api_key) == ("", KEY)
        assert endpoint.dollars_per_credit == 0.02
        assert KEY not in repr(session) + repr(endpoint)
        assert session.requests_seen("r") is None


def test_what_a_stand_in_makes_is_a_demonstration_and_nothing_else(tmp_path: Path, kiro: Kiro) -> None:
    assert (kiro.demonstration, kiro.hosting) == (True, Hosting.BUILT_IN)
    (tmp_path / "other").mkdir()
    genuine = real(tmp_path / "other", "exit 0")
    assert (genuine.demonstration, genuine.hosting) == (False, Hosting.VENDOR_MANAGED)


def test_without_a_key_nothing_starts_and_a_sign_in_is_explained(kiro: Kiro) -> None:
    with (
        pytest.raises(ConfigurationError, match="no trial reads") as caught,
        kiro.session("auto", ProviderSettings(), {}),
    ):
        pytest.fail("a session without a key")
    assert "export KIRO_API_KEY" in caught.value.remedy


def test_a_key_in_another_variable_is_taken(kiro: Kiro) -> None:
    settings = ProviderSettings(api_key_env="MY_KIRO")
    with kiro.session("auto", settings, {"MY_KIRO": KEY}) as session:
        assert session.endpoint(WireProtocol.MANAGED, run="r", scenario="d/t").api_key == KEY


def test_an_address_is_a_mistake(kiro: Kiro) -> None:
    settings = ProviderSettings(base_url="http://127.0.0.1:1")
    with (
        pytest.raises(ConfigurationError, match="no address"),
        kiro.session("auto", settings, {"KIRO_API_KEY": KEY}),
    ):
        pytest.fail("a session with an address")


def test_without_the_program_nothing_starts(tmp_path: Path) -> None:
    provider = Kiro(search_path=str(tmp_path))
    with (
        pytest.raises(ConfigurationError, match="not installed"),
        provider.session("auto", ProviderSettings(), {"KIRO_API_KEY": KEY}),
    ):
        pytest.fail("a session without the program")
    [check] = checks(provider)
    assert check.state is CheckState.FAIL
    assert "kiro.dev" in check.fix


def test_the_checks_of_a_good_key_pass_but_name_the_stand_in(kiro: Kiro) -> None:
    program, credentials, price = checks(kiro)
    assert (program.state, "stand-in" in program.found) == (CheckState.WARN, True)
    assert (credentials.state, credentials.found) == (CheckState.PASS, "Authenticated with API key")
    assert price.state is CheckState.PASS


def test_a_refused_key_fails_the_check_although_the_program_exits_with_0(kiro: Kiro) -> None:
    _, credentials, _ = checks(kiro, REFUSED_KEY)
    assert credentials.state is CheckState.FAIL
    assert "export KIRO_API_KEY" in credentials.fix


def test_without_a_key_the_program_is_not_even_asked(tmp_path: Path) -> None:
    program, credentials = checks(real(tmp_path, f"touch {tmp_path}/asked"), key="")
    assert (program.state, credentials.state) == (CheckState.PASS, CheckState.FAIL)
    assert not (tmp_path / "asked").exists()


def test_a_program_that_waits_for_a_sign_in_is_given_up(tmp_path: Path) -> None:
    begun = time.monotonic()
    _, credentials, _ = checks(real(tmp_path, "echo Open https://device.example; exec sleep 60"))
    assert time.monotonic() - begun < 50
    assert credentials.state is CheckState.FAIL
    assert "sign-in" in credentials.found


@pytest.mark.parametrize(
    ("script", "state"),
    [
        ("echo 'Logged in with IAM Identity Center (https://x.awsapps.com/start)'", CheckState.PASS),
        ("echo 'Not logged in' >&2; exit 1", CheckState.FAIL),
        ("exit 0", CheckState.FAIL),
        ("printf '\\033[31merror: invalid token\\033[0m\\n'", CheckState.FAIL),
    ],
)
def test_what_the_program_says_of_itself_decides(script: str, state: CheckState, tmp_path: Path) -> None:
    assert checks(real(tmp_path, script))[1].state is state


def test_neither_the_key_nor_an_address_of_a_person_is_shown(tmp_path: Path) -> None:
    _, credentials, _ = checks(real(tmp_path, 'echo "Signed in as jane.doe@example.org with $KIRO_API_KEY"'))
    assert credentials.state is CheckState.PASS
    assert "jane" not in credentials.found
    assert KEY not in credentials.found


def test_the_program_is_asked_in_an_empty_home_of_its_own(tmp_path: Path) -> None:
    _, credentials, _ = checks(real(tmp_path, 'echo "home holds $(ls -A "$HOME" | wc -l)"'))
    assert credentials.found == "home holds 0"


def test_without_a_price_of_credits_costs_have_no_dollars(kiro: Kiro) -> None:
    price = checks(kiro, price=None)[-1]
    assert price.state is CheckState.WARN
    assert "--kiro-dollars-per-credit" in price.fix
