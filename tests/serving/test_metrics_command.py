"""``invoke metrics`` as a user calls it: flags, environment, words and exit codes."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from runner.errors import StoreError, UsageError
from runner.serving.metrics_command import MetricsFolders, metrics_command, settings_of
from runner.serving.metrics_flags import DATABASE, metrics_form
from tests.serving.stage import PROJECT, counting, environment, serving


def given(action: str, **flags: object) -> dict[str, object]:
    bound = inspect.signature(metrics_form).bind(None, action, **flags)
    bound.apply_defaults()
    return dict(bound.arguments)


class Shell:
    """A project and what was said."""

    def __init__(self, folder: Path) -> None:
        self.folders = MetricsFolders(PROJECT, folder)
        self.said: list[str] = []

    def metrics(self, action: str, **flags: object) -> int:
        self.said.clear()
        return metrics_command(
            self.folders, self.said.append, environment=environment(), given=given(action, **flags)
        )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "metrics")


def test_a_collector_is_started_seen_stopped_and_archived(shell: Shell) -> None:
    with serving(counting()) as server:
        assert shell.metrics("start", metrics_url=server.url, interval="0.05", session_name="mine") == 0
        database = shell.folders.metrics / DATABASE
        assert f"database: {database}" in shell.said
        with pytest.raises(UsageError, match="collects into this database already"):
            shell.metrics("start", metrics_url=server.url)
        assert shell.metrics("status") == 0
        assert shell.said[0].startswith("collecting, process ")
        assert any("session mine" in line for line in shell.said)
        with pytest.raises(UsageError):
            shell.metrics("archive")
        assert shell.metrics("stop") == 0
        assert "the session is whole" in shell.said[0]
    assert shell.metrics("stop") == 0
    assert shell.said == ["no collector is at work"]
    assert shell.metrics("archive", scope="evening") == 0
    (archive,) = (shell.folders.metrics / "archives").iterdir()
    assert archive.name.startswith("m_evening_")
    assert str(archive) in shell.said[0]
    with pytest.raises(StoreError, match="no such collector database"):
        shell.metrics("status")


def test_a_server_that_is_not_there_is_told_and_still_collected(shell: Shell) -> None:
    assert shell.metrics("start", metrics_url="http://127.0.0.1:1/metrics", interval="0.1") == 3
    assert any("first scrape failed: ConnectError" in line for line in shell.said)
    assert shell.metrics("stop") == 0


def test_in_the_foreground_it_ends_with_its_time(shell: Shell) -> None:
    with serving(counting()) as server:
        assert shell.metrics("run", metrics_url=server.url, interval="0.05", duration="0.3") == 0
    assert shell.said[-1].startswith("ended: ")


def test_flags_win_over_the_environment_and_the_environment_over_defaults() -> None:
    told = {"BASE_URL": "http://told:9/v1", "METRICS_INTERVAL": "7"}
    assert settings_of(given("run"), {}, Path("d")).metrics_url == "http://127.0.0.1:8000/metrics"
    found = settings_of(given("run"), told, Path("d"))
    assert (found.metrics_url, found.interval_seconds) == ("http://told:9/metrics", 7.0)
    found = settings_of(given("run", base_url="http://flag:9/v1", interval="2"), told, Path("d"))
    assert (found.metrics_url, found.interval_seconds) == ("http://flag:9/metrics", 2.0)
    found = settings_of(given("run"), {**told, "METRICS_URL": "http://page/m"}, Path("d"))
    assert found.metrics_url == "http://page/m"
    assert found.session_name.startswith("collector-")
    assert len(found.session_name) == len("collector-") + 8


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"interval": "0"}, {}),
        ({"interval": "-1"}, {}),
        ({"interval": "soon"}, {}),
        ({"timeout": "nan"}, {}),
        ({"timeout": "0"}, {}),
        ({"duration": "-3"}, {}),
        ({"duration": "inf"}, {}),
        ({"prefix": " "}, {}),
        ({"metrics_url": "ftp://h/metrics"}, {}),
        ({}, {"METRICS_INTERVAL": "often"}),
        ({}, {"BASE_URL": "h:8000"}),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_starts(
    flags: dict[str, str], told: dict[str, str]
) -> None:
    with pytest.raises(UsageError):
        settings_of(given("start", **flags), told, Path("d"))


@pytest.mark.parametrize(("flag", "value"), [("interval", "0"), ("timeout", "-2"), ("duration", "soon")])
def test_a_number_that_is_none_stands_first_and_its_flag_is_the_place(flag: str, value: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings_of(given("start", **{flag: value}), {}, Path("d"))
    assert caught.value.where == f"--{flag}"
    assert value in caught.value.what


def test_an_unknown_action_names_those_that_are_known(shell: Shell) -> None:
    with pytest.raises(UsageError) as caught:
        shell.metrics("fly")
    assert "start, run, status, stop, archive" in caught.value.remedy


def test_a_key_that_is_not_set_is_named(shell: Shell) -> None:
    with pytest.raises(UsageError, match="NO_SUCH_KEY"):
        shell.metrics("run", api_key_env="NO_SUCH_KEY")
