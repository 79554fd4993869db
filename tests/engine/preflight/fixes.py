"""Fixes: whether a user can do what a check says: every task, flag and command that it names exists."""

from __future__ import annotations

import re
import shlex
from functools import cache

import tasks
from runner.engine.flags import RUN_HELP
from runner.engine.preflight.system import INSTALLERS

SYSTEM = frozenset(INSTALLERS) | {"sudo", "sysctl", "chmod", "export", "pip", "git", "ssh-add", "aws"}
NAMED = re.compile(r"\binvoke ([a-z][a-z-]*)((?: [^\s;,]+)*)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@cache
def flags_of(task: str) -> frozenset[str]:
    """The flags of an invoke task, with their dashes."""
    arguments = tasks.namespace[task].get_arguments()
    return frozenset("--" + name.replace("_", "-") for argument in arguments for name in argument.names)


def faults_of(fix: str) -> list[str]:
    """What a fix names and what does not exist."""
    faults = []
    rest = fix
    for match in NAMED.finditer(fix):
        name, words = match[1], match[2]
        rest = rest.replace(match[0], "")
        if name not in tasks.namespace.task_names:
            faults.append(f"there is no task {name}")
            continue
        faults += [f"{name} has no {flag}" for flag in FLAG.findall(words) if flag not in flags_of(name)]
    first = shlex.split(rest)[0] if rest.strip() and rest.count("'") % 2 == 0 else ""
    if first not in SYSTEM:
        known = {"--" + flag for flag in RUN_HELP}
        faults += [f"run has no {flag}" for flag in FLAG.findall(rest) if flag not in known]
    return faults


def require_known(fix: str) -> None:
    """Check that a user can do what ``fix`` says."""
    assert fix.strip(), "a failure without a fix"
    assert faults_of(fix) == [], fix
