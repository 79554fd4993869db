"""A container gets the contract of the sandbox, shown by a runtime that writes down what it is told."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from runner.datasets import run_check
from runner.datasets.checking import CheckStopped
from runner.engine.isolation.container import Runtime, try_runtime
from runner.engine.isolation.level import Container
from runner.engine.supervision import supervise
from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint, WireProtocol

# Stands for docker: notes its arguments, and runs what follows the image's name on this machine.
FAKE = """#!{python}
import json, os, signal, subprocess, sys
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
if words[:2] == ["image", "inspect"]:
    sys.exit(0 if {has_image} else 1)
if words[0] == "import":
    sys.exit(0 if sys.stdin.buffer.read() else 1)
if words[0] == "run":
    command = words[words.index("harnessmark-empty:1") + 1 :]
    if "/run/harnessmark/attendant.py" in command:
        command = command[command.index("--") + 1 :]
    given = dict(os.environ)
    shown = {{}}
    for flag, value in zip(words, words[1:]):
        if flag == "--env":
            name, found, text = value.partition("=")
            shown[name] = text if found else given[name]
    folder = words[words.index("--workdir") + 1]
    sys.exit(subprocess.call(command, env=shown, cwd=folder))
"""


class Fake:
    """A runtime and what it was told."""

    def __init__(self, folder: Path, *, has_image: bool = True) -> None:
        self.log = folder / "log"
        self.program = folder / "docker"
        self.program.write_text(FAKE.format(python=sys.executable, log=str(self.log), has_image=has_image))
        self.program.chmod(0o755)
        self.runtime = Runtime(self.program, True, "")

    def told(self, first: str) -> list[list[str]]:
        """Its arguments of each call that began so; a line that is still being written is none yet."""
        whole = self.log.read_text().split("\n")[:-1] if self.log.is_file() else []
        lines = [json.loads(line) for line in whole]
        return [words for words in lines if words[0] == first]


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    made = {name: tmp_path / name for name in ("workspace", "artifacts", "home")}
    for folder in made.values():
        folder.mkdir()
    return made


def values(words: list[str], flag: str) -> list[str]:
    return [value for name, value in pairwise(words) if name == flag]


def test_a_launch_runs_with_exactly_its_environment_and_its_key_in_no_argument(
    tmp_path: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNNERS_OWN_SECRET", "hidden")
    fake = Fake(tmp_path)
    endpoint = Endpoint("http://127.0.0.1:9/v1", WireProtocol.CHAT_COMPLETIONS, "m", "sk-real-0123456789")
    container = Container(fake.runtime)
    with container.gateway(endpoint) as gateway:
        launch = Launch(
            (sys.executable, "-c", "import os, json, sys; print(json.dumps([dict(os.environ), input()]))"),
            {"PATH": os.defpath, "HOME": str(folders["home"]), "MODEL_KEY": gateway.endpoint.api_key},
            folders["workspace"],
            stdin=b"hello\n",
        )
        wrapped = container.wrap(launch, **folders, gateway=gateway)
        finished = supervise(
            wrapped, stdout=tmp_path / "out", timeout_seconds=100, cancelled=threading.Event()
        )
        key, socket = gateway.endpoint.api_key, str(gateway.socket_path)
    assert finished.exit_code == 0, finished.stderr_tail
    seen, said = json.loads((tmp_path / "out").read_text())
    assert {name: seen[name] for name in launch.environment} == dict(launch.environment)
    assert "RUNNERS_OWN_SECRET" not in seen
    assert said == "hello"
    [words] = fake.told("run")
    assert key not in " ".join(words)
    assert any(socket in mount and "readonly" in mount for mount in values(words, "--mount"))


def test_the_container_has_no_network_no_rights_and_three_folders_to_write(
    tmp_path: Path, folders: dict[str, Path]
) -> None:
    fake = Fake(tmp_path)
    tool = tmp_path / "tool"
    tool.mkdir()
    launch = Launch(("/bin/true",), {"PATH": os.defpath}, folders["workspace"], readable=(tool,))
    wrapped = Container(fake.runtime).wrap(launch, **folders, gateway=None)
    supervise(wrapped, stdout=tmp_path / "out", timeout_seconds=100, cancelled=threading.Event())
    [words] = fake.told("run")
    assert values(words, "--network") == ["none"]
    assert values(words, "--cap-drop") == ["ALL"]
    assert {"--read-only", "--rm", "--interactive"} <= set(words)
    assert "no-new-privileges" in values(words, "--security-opt")
    assert values(words, "--user") != ["0:0"]
    assert not {"--privileged", "--tty", "-v", "--volume"} & set(words)
    mounts = values(words, "--mount")
    writable = {part for mount in mounts if "readonly" not in mount for part in mount.split(",")}
    assert {part for part in writable if part.startswith("target=")} == {
        f"target={folder}" for folder in folders.values()
    }
    assert f"type=bind,source={tool},target={tool},readonly" in mounts
    shown = {mount.split("target=")[1].split(",")[0] for mount in mounts}
    assert not shown & {"/", "/root", "/home", "/etc", "/var", str(Path.home()), "/var/run/docker.sock"}


def cancel_once_it_runs(fake: Fake, cancelled: threading.Event) -> None:
    """When the runtime has been told to run something, or far too late."""
    deadline = time.monotonic() + 40
    while not fake.told("run") and time.monotonic() < deadline:
        time.sleep(0.02)
    cancelled.set()


def test_a_stopped_container_is_removed_by_name(tmp_path: Path, folders: dict[str, Path]) -> None:
    fake = Fake(tmp_path)
    launch = Launch(("/bin/sleep", "60"), {"PATH": os.defpath}, folders["workspace"])
    wrapped = Container(fake.runtime).wrap(launch, **folders, gateway=None)
    cancelled = threading.Event()
    canceller = threading.Thread(target=cancel_once_it_runs, args=(fake, cancelled))
    canceller.start()
    finished = supervise(wrapped, stdout=tmp_path / "out", timeout_seconds=50, cancelled=cancelled)
    canceller.join()
    assert finished.cancelled
    [words] = fake.told("run")
    [name] = values(words, "--name")
    assert [name] in [words[-1:] for words in fake.told("kill")]
    assert ["rm", "--force", name] in fake.told("rm")


def test_a_container_is_removed_when_its_keeper_is_killed(tmp_path: Path, folders: dict[str, Path]) -> None:
    """As a check is ended that is stopped or late: the whole group at once."""
    fake = Fake(tmp_path)
    wrap = Container(fake.runtime).check_wrap()
    assert wrap is not None
    with pytest.raises(CheckStopped):
        run_check(
            ["sleep", "60"],
            workspace=folders["workspace"],
            timeout_seconds=50,
            wrap=wrap,
            stopped=lambda: bool(fake.told("run")),
        )
    deadline = time.monotonic() + 60
    while not (removed := fake.told("rm")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert removed[0][-1:] == values(fake.told("run")[0], "--name")


def test_the_empty_image_is_made_where_it_is_missing(tmp_path: Path) -> None:
    fake = Fake(tmp_path, has_image=False)
    assert try_runtime(fake.program).works
    assert fake.told("import") == [["import", "-", "harnessmark-empty:1"]]


def test_a_runtime_without_its_daemon_says_so(tmp_path: Path) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho 'Cannot connect to the daemon' >&2; exit 1\n")
    program.chmod(0o755)
    found = try_runtime(program)
    assert not found.works
    assert "Cannot connect" in found.reason
