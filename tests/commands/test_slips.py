"""Slips of the keyboard: a word where a command wants a number is explained, never traced."""

from __future__ import annotations

import sys

import pytest
from invoke import Program

import tasks


@pytest.mark.parametrize(
    ("typed", "flag"),
    [
        ("replay --port abc", "--port"),
        ("serve -p 80.5", "--port"),
        ("check --concurrency two", "--concurrency"),
        ("judge --concurrency two", "--concurrency"),
        ("measure fuzz --minutes long", "--minutes"),
        ("prices --model claude-opus-5 --prompt-tokens many", "--prompt-tokens"),
    ],
)
def test_a_word_in_place_of_a_number_shows_no_traceback(
    typed: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        Program(namespace=tasks.namespace, name="invoke").run(["invoke", *typed.split()])
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f"{flag} must be a ")
    assert f"where: {flag} {typed.split()[-1]}" in shown


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("run --harnes loop", ["there is no flag --harnes; did you mean --harness", "where: invoke run\n"]),
        ("run --concurency=4", ["there is no flag --concurency; did you mean --concurrency"]),
        ("run --zzzz", ["there is no flag --zzzz\n", "what to do: invoke --help run lists its flags"]),
        ("runn", ["there is no command runn; did you mean run", "invoke --list shows every command"]),
        ("--modle x", ["there is no flag --modle\n", "where: invoke\n"]),
        ("run statsu", ["run takes no 'statsu', and no command is called so; did you mean status?"]),
        ("status --plan", ["--plan needs a value", "write --plan=VALUE"]),
        ("dataset-check", ["required positional arguments: 'name'", "invoke --help dataset-check"]),
        ("run it's", ['run takes no "it\'s"']),
    ],
)
def test_a_flag_or_a_command_that_does_not_exist_is_named_with_the_nearest_that_does(
    typed: str, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        Program(namespace=tasks.namespace, name="invoke").run(["invoke", *typed.split()])
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert "No idea" not in shown
    for words in told:
        assert words in shown


def test_no_command_leaves_the_reading_of_a_number_to_its_parser() -> None:
    for context in tasks.namespace.to_contexts():
        for argument in context.args.values():
            assert argument.kind not in {int, float}, f"{context.name} --{argument.name}"


@pytest.mark.parametrize("typed", ["test --only tests/store", "measure fuzz"])
def test_tests_in_an_environment_without_their_packages_show_no_traceback(
    typed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(SystemExit) as ended:
        Program(namespace=tasks.namespace, name="invoke").run(["invoke", *typed.split()])
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert "not installed: playwright" in shown
    assert "python3 start.py test" in shown
