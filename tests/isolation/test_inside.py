"""What a child finds inside each isolation: its environment, its folders, its tools, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.engine.isolation.overhead import isolation_command, measure_overhead
from runner.engine.supervision import Finished, supervise
from runner.harnesses.base import Launch
from tests.isolation.levels import LEVELS, isolation
from tests.survivors import marked, survivors

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="isolation is for Linux only")


class Trial:
    """Folders of a trial, and how a program is run in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places = {name: folder / name for name in ("workspace", "artifacts", "home")}
        for place in self.places.values():
            place.mkdir()

    def run(
        self,
        level: str,
        code: str,
        *,
        environment: Mapping[str, str] | None = None,
        readable: tuple[Path, ...] = (),
        private: tuple[Path, ...] = (),
        command: tuple[str, ...] | None = None,
    ) -> tuple[Finished, str]:
        launch = Launch(
            command or (sys.executable, "-I", "-c", code),
            {"PATH": os.defpath} if environment is None else environment,
            self.places["workspace"],
            readable=readable,
        )
        wrapped = isolation(level, private).wrap(launch, **self.places, gateway=None)
        finished = supervise(
            wrapped, stdout=self.folder / "out", timeout_seconds=200, cancelled=threading.Event()
        )
        return finished, (self.folder / "out").read_text()


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    return Trial(tmp_path)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"PATH": "/usr/bin", "LANG": "C"},
        {"PATH": "/usr/bin", "EMPTY": "", "LINES": "a\nb=c\n", "UMLAUT": "äß"},
    ],
)
def test_the_environment_is_exactly_the_given_one(
    level: str, environment: dict[str, str], trial: Trial
) -> None:
    code = "print(open('/proc/self/environ', 'rb').read())"
    _, output = trial.run(level, code, environment=environment)
    expected = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environment.items())
    assert sorted(output.strip()[2:-1].split("\\x00")) == sorted(repr(expected)[2:-1].split("\\x00"))


@pytest.mark.parametrize("level", LEVELS)
def test_the_program_runs_in_its_workspace_and_its_exit_code_comes_back(level: str, trial: Trial) -> None:
    finished, output = trial.run(level, "import os, sys; print(os.getcwd()); sys.exit(77)")
    assert (finished.exit_code, output.strip()) == (77, str(trial.places["workspace"]))


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_that_is_not_there_is_said(level: str, trial: Trial) -> None:
    finished, _ = trial.run(level, "", command=("no-such-agent",))
    assert finished.exit_code == 127
    assert "no-such-agent cannot be run" in finished.stderr_tail


@pytest.mark.parametrize("level", LEVELS)
def test_a_crash_can_be_told_by_its_signal(level: str, trial: Trial) -> None:
    finished, _ = trial.run(level, "import os; os.kill(os.getpid(), 11)")
    assert (finished.exit_code, finished.signal) in {(None, 11), (139, None)}


def test_inside_the_sandbox_the_agent_is_nobody_special(trial: Trial) -> None:
    code = "import os, pwd, socket; print(os.getuid(), os.getgid(), pwd.getpwuid(os.getuid()).pw_name)"
    assert trial.run("sandbox", code)[1].split() == ["1000", "1000", "agent"]


def test_inside_the_sandbox_there_are_only_its_own_processes(trial: Trial) -> None:
    code = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')))"
    assert int(trial.run("sandbox", code)[1]) <= 4


def test_only_three_folders_and_the_temporary_ones_can_be_written(trial: Trial) -> None:
    code = (
        "import os\n"
        "for folder, names, _ in os.walk('/'):\n"
        "    names[:] = [n for n in names if folder + n not in ('/proc', '/usr')]\n"
        "    if os.access(folder, os.W_OK): print(folder); names.clear()\n"
    )
    writable = set(trial.run("sandbox", code)[1].split())
    ours = {str(place) for place in trial.places.values()}
    # The private /tmp holds the folders where the tests themselves run below /tmp.
    assert writable - ours <= {"/tmp", "/var/tmp", "/dev/shm", "/dev/pts"}
    assert {"/var/tmp", "/dev/shm"} <= writable


def test_a_tool_is_readable_below_a_hidden_folder_and_nothing_beside_it(trial: Trial) -> None:
    tools, secret = trial.folder / "installed" / "tool", trial.folder / "installed" / "secret"
    for folder in (tools, secret):
        folder.mkdir(parents=True)
        (folder / "file").write_text("content")
    code = (
        "import os\n"
        f"print(open({str(tools / 'file')!r}).read(), os.listdir({str(tools.parent)!r}),"
        f" os.access({str(tools)!r}, os.W_OK))"
    )
    assert trial.run("sandbox", code, readable=(tools,))[1].strip() == "content ['tool'] False"


def test_a_private_folder_is_empty_even_below_a_readable_one(trial: Trial) -> None:
    project = trial.folder / "project"
    (project / "results").mkdir(parents=True)
    (project / "results" / "trial.json").write_text("{}")
    (project / "tool").write_text("tool")
    code = f"import os; print(sorted(os.listdir({str(project)!r})), os.listdir({str(project / 'results')!r}))"
    _, output = trial.run("sandbox", code, readable=(project,), private=(project / "results",))
    assert output.strip() == "['results', 'tool'] []"


def test_the_trial_s_folders_are_seen_inside_a_private_one(tmp_path: Path) -> None:
    work = tmp_path / "artifacts-of-the-project"
    work.mkdir()
    (work / "neighbour").mkdir()
    (work / "mine").mkdir()
    trial = Trial(work / "mine")
    code = f"import os; print(os.listdir({str(work)!r}))"
    assert trial.run("sandbox", code, private=(work,))[1].strip() == "['mine']"


PARENT = """
import json, os, sys, threading
from pathlib import Path
from runner.engine.supervision import supervise
from runner.harnesses.base import Launch
from tests.isolation.levels import isolation
level, folder, mark = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
places = {name: folder / name for name in ("workspace", "artifacts", "home")}
code = (
    "import subprocess, sys, time; "
    f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(200) # {mark}'],"
    " start_new_session=True); "
    f"print('up', flush=True); time.sleep(200) # {mark}"
)
launch = Launch((sys.executable, "-c", code), {"PATH": os.defpath}, places["workspace"])
supervise(
    isolation(level).wrap(launch, **places, gateway=None), stdout=folder / "out", timeout_seconds=60,
    cancelled=threading.Event(), on_line=lambda text: (folder / "up").touch(),
)
"""


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_runs_on_after_the_runner_was_killed(level: str, trial: Trial) -> None:
    mark = f"orphan-{os.getpid()}-{time.monotonic_ns()}"
    runner = subprocess.Popen([sys.executable, "-c", PARENT, level, str(trial.folder), mark])
    deadline = time.monotonic() + 50
    while not (trial.folder / "up").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert len(marked(mark)) >= 3
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    assert survivors(mark) == []


@pytest.mark.parametrize("level", LEVELS)
def test_what_an_isolation_costs_can_be_measured(level: str) -> None:
    measured = measure_overhead(isolation(level), requests=5, starts=2)
    assert measured.level == level
    assert all(direct > 0 for direct, _ in (measured.request_ms, measured.first_byte_ms, measured.start_ms))
    assert measured.first_byte_ms[1] <= measured.request_ms[1]


@pytest.mark.parametrize("level", LEVELS)
def test_what_an_isolation_costs_is_said_in_three_lines(level: str) -> None:
    said: list[str] = []
    assert isolation_command(said.append, level, requests=1, starts=1) == 0
    assert [line.partition(" takes ")[0] for line in said] == [
        f"{level}: {what}" for what in ("a request", "first byte", "a start")
    ]
