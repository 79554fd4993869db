"""Task: what every command does when its reader leaves, and when it is asked for its help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
READS_ONE_LINE = """
import subprocess, sys
work = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
work.stdout.readline()
work.stdout.close()
errors = work.stderr.read()
print(work.wait(), errors)
"""
TALKS = """
from invoke import Collection, Program, task
from runner.commands.task import command, console, say

@task
@command
def talk(context):
    for number in range(20000):
        say(f"line {number}")
        if number % 1000 == 0:
            console().print("a line for a terminal")
    with open("done", "w") as file:
        file.write("done")
    return 3

Program(namespace=Collection(talk), name="invoke").run()
"""


def test_a_reader_that_leaves_ends_no_work_and_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "talks.py").write_text(TALKS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", READS_ONE_LINE, sys.executable, "talks.py", "talk"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(PROJECT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "3"
    assert (tmp_path / "done").read_text(encoding="utf-8") == "done"


@pytest.mark.parametrize("name", ["metrics", "cost", "prices-import"])
def test_a_command_asked_for_its_help_by_its_first_argument_says_how_to_get_it(name: str) -> None:
    rest = ["explain"] if name == "cost" else ["litellm"] if name == "prices-import" else []
    done = subprocess.run(
        [sys.executable, "-m", "invoke", name, *rest, "--help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1
    assert f"invoke --help {name}" in done.stderr
