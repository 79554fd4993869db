"""The command on a bare machine: each failure is put right by exactly what it prints, until nothing fails."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from rich.console import Console

from runner.engine.command import run_command
from runner.engine.isolation.bubblewrap import probe_bubblewrap
from runner.engine.isolation.container import probe_container
from runner.engine.places import Places
from runner.engine.preflight.command import preflight_command
from runner.errors import ConfigurationError, UsageError
from runner.harnesses.registry import harness
from runner.providers.checks import Check, CheckState
from tests.engine.preflight.fixes import require_known
from tests.engine.runs import demonstration, run, undo_last_trial
from tests.providers.servers import NOBODY, Answer, Seen, api

KEY = "a-key-that-the-server-knows-1"
FOLDED = re.compile(r"(fail|warn): (.+)\n(?:  fix: (.+)\n)?")


def preflight(
    places: Places, flags: Mapping[str, object], environment: Mapping[str, str] | None = None, **more: object
) -> tuple[int, str]:
    output = io.StringIO()
    code = preflight_command(
        places,
        Console(file=output, width=100),
        config=None,
        flags=flags,
        environment=environment or {},
        **more,  # type: ignore[arg-type]
    )
    return code, output.getvalue()


def fixes(output: str, state: str = "fail") -> dict[str, str]:
    """The fix of each line that ended so, by what it says."""
    return {found: fix for each, found, fix in FOLDED.findall(output) if each == state}


def fix_of(output: str, words: str) -> str:
    [fix] = [fix for found, fix in fixes(output).items() if words in found]
    return fix


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


class Model:
    """A server of one model that wants a key; it is started when the test says so."""

    def __call__(self, seen: Seen) -> Answer:
        if seen.headers.get("authorization") != f"Bearer {KEY}":
            return 401, {"error": {"message": "no such key"}}
        if seen.method == "GET" and seen.path == "/v1/models":
            return 200, {"data": [{"id": "vendor/Large-Model", "max_model_len": 262_144}]}
        return (400, {}) if seen.path == "/v1/responses" else (404, {"detail": "Not Found"})


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A search path that holds a package manager and nothing else; what it installs appears there."""
    folder = tmp_path / "bin"
    for package, name in (("git", "git"), ("bubblewrap", "bwrap")):
        real = Path("/usr/bin") / name
        if not real.exists():
            pytest.skip(f"{name} is not on this machine")
        program(folder / f"install-{package}", f'/bin/ln -s {real} "{folder / name}"')
    program(folder / "apt-get", f'for last; do :; done; exec "{folder}/install-$last"')
    monkeypatch.setenv("PATH", str(folder))
    probe_bubblewrap.cache_clear()
    yield folder
    probe_bubblewrap.cache_clear()


def obey(fix: str, places: Places, flags: dict[str, object], environment: dict[str, str]) -> None:
    """Do what a fix says, as a user would who copies it; installing is played by a stand-in."""
    require_known(fix)
    words = shlex.split(fix)
    if words[0] == "apt-get" or words[:2] == ["sudo", "apt-get"]:
        subprocess.run([word for word in words if word != "sudo"], check=True)
    elif words[:2] == ["invoke", "harness-install"]:
        installation = harness(words[2]).installation
        assert installation is not None
        program(installation.program(places.harnesses, words[2]), f"echo {words[2]} {installation.version}")
    elif words[0] == "export":
        environment[words[1].partition("=")[0]] = KEY
    elif words[0].startswith("--"):
        flags[words[0].removeprefix("--").replace("-", "_")] = words[1].rstrip(",")
    else:
        raise AssertionError(f"nobody can do this: {fix}")


def test_on_a_bare_machine_each_failure_is_put_right_by_what_it_prints(places: Places, bare: Path) -> None:
    environment: dict[str, str] = {}
    flags: dict[str, object] = {
        "harness": "codex",
        "isolation": "sandbox",
        "endpoint": f"{NOBODY}/v1",
        "model": "large-model",
        "api_key_env": "SOME_KEY",
        "count": 1,
    }
    code, output = preflight(places, flags, environment)
    assert code == 1
    first = fixes(output)
    assert len(first) == 4, output
    assert [
        word for word in ("git", "sandbox", "codex", "SOME_KEY") if not any(word in each for each in first)
    ] == []
    for fix in first.values():
        obey(fix, places, flags, environment)
    probe_bubblewrap.cache_clear()

    code, output = preflight(places, flags, environment)
    assert (code, list(fixes(output))) == (1, [next(iter(fixes(output)))])
    assert "--endpoint" in fix_of(output, "nothing listens")
    with api(Model()) as server:
        flags["endpoint"] = server.address
        obey(fix_of(preflight(places, flags, environment)[1], "one step deeper"), places, flags, environment)
        assert flags["endpoint"] == server.base_url
        obey(fix_of(preflight(places, flags, environment)[1], "is not served"), places, flags, environment)
        assert flags["model"] == "vendor/Large-Model"
        code, output = preflight(places, flags, environment)
        assert (code, fixes(output)) == (0, {})
        warned = fixes(output, "warn")
        assert [found for found in warned if "price" in found] == list(warned)
        for fix in warned.values():
            require_known(fix)
        environment["SOME_KEY"] = "another-key-that-it-does-not-know"
        obey(fix_of(preflight(places, flags, environment)[1], "(401)"), places, flags, environment)
        assert preflight(places, flags, environment)[0] == 0
    assert KEY not in output
    assert not places.results.exists()


def test_a_wrong_version_of_a_program_is_installed_anew(places: Places) -> None:
    installation = harness("codex").installation
    assert installation is not None
    program(installation.program(places.harnesses, "codex"), "echo codex 0.0.1")
    _, output = preflight(places, {"harness": "codex", "endpoint": NOBODY, "model": "m"})
    assert fix_of(output, "version 0.0.1 is there") == "invoke harness-install codex"


def test_a_missing_runtime_is_told_apart_from_the_program(places: Places) -> None:
    _, output = preflight(places, {"harness": "pi", "endpoint": NOBODY, "model": "m"})
    assert fix_of(output, "pi: runtime: node") == "invoke harness-install pi"
    assert fix_of(output, "pi: program: ") == "invoke harness-install pi"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"model": "nope"}, "no cassette plays the model 'nope'"),
        ({"faults": "bogus"}, "bogus"),
        ({"harness": "lop"}, "did you mean 'loop'"),
        ({"skill": "fxi"}, "fix"),
        ({"dataset": "hello-word"}, "hello-world"),
        ({"endpoint": "http://h/v1"}, "needs --model"),
        ({"provider": "anthropic", "model": "m"}, "ANTHROPIC_API_KEY is not set"),
        ({"isolation": "container"}, ""),
    ],
)
def test_what_a_run_would_refuse_is_a_line_of_the_table(
    places: Places, flags: dict[str, object], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if "isolation" in flags:
        (tmp_path / "git").symlink_to("/usr/bin/git")
        monkeypatch.setenv("PATH", str(tmp_path))
        probe_container.cache_clear()
    code, output = preflight(places, flags)
    assert code == 1
    found = fixes(output)
    assert any(words in each for each in found)
    for fix in found.values():
        require_known(fix)


@pytest.mark.parametrize("flags", [{"model": "nope"}, {"faults": "bogus"}])
def test_a_dry_run_fails_where_the_run_would(places: Places, flags: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        run(places, flags, dry_run=True)
    assert not places.results.exists()


def test_a_dry_run_shows_the_table_and_the_plan(places: Places) -> None:
    code, output = run(places, {"count": 1}, dry_run=True)
    assert code == 0
    assert output.index("Pre-flight") < output.index("Plan run-") < output.index("Dry run: nothing")


def test_a_dry_run_shows_the_plan_of_a_run_whose_endpoint_is_down_and_fails(places: Places) -> None:
    output = io.StringIO()
    flags = {"endpoint": f"{NOBODY}/v1", "model": "m", "count": 1}
    with pytest.raises(ConfigurationError, match="nothing listens"):
        run_command(
            places, Console(file=output, width=100), config=None, flags=flags, environment={}, dry_run=True
        )
    assert "1 trial in a seeded order" in output.getvalue()
    assert not places.results.exists()


def test_a_run_to_an_endpoint_where_nobody_listens_ends_before_anything_is_planned(places: Places) -> None:
    with pytest.raises(ConfigurationError, match="nothing listens") as caught:
        run(places, {"endpoint": f"{NOBODY}/v1", "model": "m"})
    assert caught.value.exit_code == 1
    assert not list(places.root.rglob("plans/*.json"))


def test_a_run_that_passes_says_so_in_one_line(whole: tuple[Places, str]) -> None:
    assert len(re.findall(r"^pre-flight: \d+ checks? passed", whole[1], re.MULTILINE)) == 1
    assert "┏" not in whole[1].split("Plan run-")[0]


def test_a_plan_is_looked_at_with_its_own_settings(places: Places) -> None:
    run(places, {"model": "replay-careful", "count": 2})
    store = demonstration(places)
    [plan] = store.plans()
    undo_last_trial(store, plan.plan_id)
    code, output = preflight(places, {}, resume=plan.plan_id)
    assert code == 0
    assert f"plan {plan.plan_id} is whole" in " ".join(output.replace("│", " ").split())
    with pytest.raises(UsageError):
        preflight(places, {}, resume="run-of-yesterday")


def test_a_matrix_is_checked_entry_by_entry(places: Places, tmp_path: Path) -> None:
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text(
        "models: [replay-careful, nope, nobody]\nharnesses: [loop]\nskills: [fix]\n"
        "datasets: [{dataset: hello-world, count: 1}]\n",
        encoding="utf-8",
    )
    code, output = preflight(places, {}, matrix=matrix)
    assert code == 1
    assert {name for name in ("nope", "nobody") if any(name in each for each in fixes(output))} == {
        "nope",
        "nobody",
    }


class Mute:
    """A judge that does not answer."""

    name = "mute"

    def checks(self) -> Iterator[Check]:
        yield Check("judge answers", CheckState.FAIL, "it says nothing", "invoke harness-install codex")


def test_a_judge_that_does_not_answer_fails_the_pre_flight(places: Places) -> None:
    code, output = preflight(places, {"count": 1}, judge=Mute())
    assert code == 1
    assert fix_of(output, "judge mute: judge answers") == "invoke harness-install codex"
