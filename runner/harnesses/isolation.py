"""Isolation: the environment that every real agent starts with, built from nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import yaml

from runner.harnesses.base import Assignment
from runner.records import DataWarning, Limits

Value = TypeVar("Value")


def search_path() -> str:
    """Where commands are found, as the caller's own environment says it."""
    return os.environ.get("PATH", os.defpath)


def clean_environment(assignment: Assignment, path: str) -> dict[str, str]:
    """The variables a program needs to run at all, with every folder it may write in below ``home``.

    Makes those folders. Nothing else of the caller's environment is passed on.

    Args:
        path: the search path; the folder of the running Python is put before it.
    """
    home = assignment.home.absolute()
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), path]),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        # Without its own .git the workspace is no repository, and not part of one further up.
        "GIT_CEILING_DIRECTORIES": str(assignment.workspace.absolute().parent),
    }


def agent_folder(assignment: Assignment) -> Path:
    """Where configuration and state of a program go that may have them anywhere."""
    return assignment.home.absolute() / "agent"


def known(settings: Mapping[str, Value | None]) -> dict[str, Value]:
    """What is known of ``settings``: of None, which is unknown or no limit, an agent is told nothing."""
    return {name: value for name, value in settings.items() if value is not None}


def known_texts(settings: Mapping[str, float | str | None]) -> dict[str, str]:
    """As :func:`known`, as variables of an environment and flags of a command line want it."""
    return {name: str(value) for name, value in known(settings).items()}


def write_text(path: Path, content: str) -> Path:
    """Write one file for a start, with the folders above it, to the letter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="")
    return path


def write_json(path: Path, content: Mapping[str, object]) -> Path:
    """Write one configuration file, keys sorted so that equal settings have equal digests."""
    return write_text(path, json.dumps(content, indent=2, sort_keys=True) + "\n")


def write_yaml(path: Path, content: Mapping[str, object] | list[Mapping[str, object]]) -> Path:
    """As :func:`write_json`, for programs that read YAML, which takes some of JSON's escapes otherwise."""
    return write_text(path, yaml.safe_dump(content))


def limits_not_kept(limits: Limits, harness: str, kept: frozenset[str]) -> tuple[DataWarning, ...]:
    """A warning for each limit that was asked for and that the harness cannot keep by itself.

    Args:
        kept: names of the fields of :class:`Limits` that it does keep.
    """
    words = {
        "max_turns": "turns",
        "max_tokens": "tokens",
        "max_output_tokens": "output tokens per answer",
        "max_cost_usd": "cost",
    }
    return tuple(
        DataWarning(code="limit-not-enforced", text=f"{harness} has no way to keep the {word} limit itself")
        for name, word in words.items()
        if getattr(limits, name) is not None and name not in kept
    )
