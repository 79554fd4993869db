"""Registry of skills: one line per skill, each a folder beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runner.errors import ConfigurationError
from runner.registry import load_by_name
from runner.skills.skill import Skill, load_skill

SKILLS: Mapping[str, str] = {"fix": "fix", "swe2": "swe2", "swe3": "swe3"}


def skill(name: str) -> Skill:
    """The skill called ``name``, or the one that an import path ``package.module:Name`` leads to.

    Raises:
        UsageError: no such name; the nearest one is offered.
        ConfigurationError: its files have faults, or the import path leads to no skill.
    """
    if name in SKILLS:
        return load_skill(Path(__file__).parent / SKILLS[name])
    found = load_by_name("skill", name, SKILLS)
    if not isinstance(found, Skill):
        raise ConfigurationError(f"{name!r} is no skill")
    return found
