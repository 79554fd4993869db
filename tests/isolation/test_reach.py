"""What was planted outside the sandbox is not reachable from inside, shown by a program that tries.

The same program without isolation gets at it, so it would notice.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from runner.datasets import SealedCheckout, seal
from runner.engine.places import Places
from runner.engine.supervision import supervise
from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint, WireProtocol
from tests.datasets.samples import new_repository
from tests.isolation.levels import isolation

PROBE = Path(__file__).parent / "probe.py"
Found = dict[str, list[str]]


@dataclass
class Ground:
    """A project with a trial under way, and marks planted around it."""

    places: Places
    home: Path
    mark: str
    checkout: SealedCheckout
    victim: subprocess.Popen[bytes]
    tcp: socket.socket
    unix: Path
    abstract: str
    outside: list[Path] = field(default_factory=list)

    @property
    def trial(self) -> Path:
        return self.places.scratch("plan", 0)

    def private(self) -> tuple[Path, ...]:
        return (self.places.results, self.places.datasets, self.places.artifacts, self.home)

    def probe(self, level: str) -> Found:
        """What the probe got at."""
        inside = isolation(level, self.private())
        endpoint = Endpoint(
            f"http://127.0.0.1:{self.tcp.getsockname()[1]}/v1", WireProtocol.CHAT_COMPLETIONS, "m", self.mark
        )
        with inside.gateway(endpoint) as gateway:
            launch = Launch(
                command=(sys.executable, "-I", str(PROBE)),
                environment={"PATH": os.defpath, "HOME": str(self.trial / "home"), "LANG": "C.UTF-8"},
                working_directory=self.checkout.workspace,
                readable=(PROBE,),
                stdin=json.dumps(self.job(level)).encode(),
            )
            finished = supervise(
                inside.wrap(
                    launch,
                    workspace=self.checkout.workspace,
                    artifacts=self.trial / "artifacts",
                    home=self.trial / "home",
                    gateway=gateway,
                ),
                stdout=self.trial / "stdout",
                timeout_seconds=60,
                cancelled=threading.Event(),
            )
        assert finished.exit_code == 0, finished.stderr_tail
        found: Found = json.loads((self.trial / "stdout").read_text())
        return found

    def job(self, level: str) -> dict[str, str]:
        host, port = self.tcp.getsockname()
        return {
            "mark": self.mark,
            "start": str(self.places.root),
            # Without isolation the whole machine would be searched.
            "depth": "30" if level == "sandbox" else "1",
            "paths": ":".join(map(str, self.outside)),
            "writable": ":".join(map(str, [*self.outside, "/", "/etc", "/usr", "/etc/passwd"])),
            "addresses": f"{host}:{port} 192.0.2.1:80 169.254.169.254:80",
            "sockets": f"{self.unix}:@{self.abstract}:/var/run/docker.sock",
            "pids": f"{self.victim.pid} {os.getpid()}",
        }


def planted(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    mark = f"planted-{secrets.token_hex(12)}"
    places, home = Places(tmp_path / "project"), tmp_path / "user"
    monkeypatch.setenv("HOME", str(home))
    repository = new_repository(tmp_path / "source")
    repository.commit({"secret.txt": mark.encode()}, mark)
    repository.commit({"secret.txt": b"nothing"})
    trial = places.scratch("plan", 0)
    checkout = seal(
        str(repository.path),
        "HEAD",
        beside=tmp_path,
        cache=places.repositories,
        workspace=trial / "workspace",
        git_dir=trial / "trusted.git",
    )
    for name in ("artifacts", "home"):
        (trial / name).mkdir()
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="hm-")))
        unix.bind(str(folder / "s"))
        unix.listen()
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        abstract.bind("\0" + mark)
        abstract.listen()
        victim = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(59)"], env={"PLANTED_API_KEY": mark}
            )
        )
        stack.callback(victim.kill)
        made = Ground(places, home, mark, checkout, victim, tcp, folder / "s", mark)
        made.outside += [
            planted(places.datasets / "truth.yaml", f"ground_truth: {mark}"),
            planted(places.datasets / "hidden" / "test_hidden.py", mark),
            planted(places.datasets / "solutions" / "fix.diff", mark),
            planted(places.results / "swe/m_p/loop/fix/d/t/1/trial.json", mark),
            planted(places.scratch("plan", 1) / "artifacts" / "patch.diff", mark),
            planted(trial / "invocation-0" / "stdout", mark),
            planted(places.streams / "0.jsonl.gz", mark),
            planted(home / ".claude" / "settings.json", mark),
            planted(home / ".codex" / "auth.json", mark),
            planted(home / ".aws" / "credentials", mark),
            planted(home / ".ssh" / "id_ed25519", mark),
            checkout.git_dir,
            places.repositories,
            repository.path,
        ]
        yield made


def test_nothing_planted_is_reachable_from_inside_the_sandbox(ground: Ground) -> None:
    found = ground.probe("sandbox")
    assert {name: got for name, got in found.items() if got} == {}
    assert not (ground.trial / "escaped").exists()


def test_the_probe_would_notice(ground: Ground) -> None:
    found = ground.probe("none")
    marked = [path for path in ground.outside if path.is_file() and path.is_relative_to(ground.places.root)]
    assert {str(path) for path in marked} <= set(found["files"])
    assert (ground.trial / "escaped").exists()
    assert found["planted paths"] == found["links"] == list(map(str, ground.outside))
    assert set(map(str, ground.outside)) <= set(found["writable"])
    for name in ("environments", "network", "unix sockets", "processes"):
        assert found[name], f"without isolation the probe must succeed at: {name}"
    if os.geteuid() == 0:
        assert found["kernel switches"]
        assert found["capabilities"]
    assert found["history"] == [], "a sealed checkout holds no history at any level"
