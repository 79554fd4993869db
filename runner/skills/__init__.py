"""Prompt programs and the contracts of the artifacts they ask for."""

from runner.skills.registry import SKILLS, skill
from runner.skills.skill import ArtifactRule, Problem, Skill, load_skill

__all__ = ["SKILLS", "ArtifactRule", "Problem", "Skill", "load_skill", "skill"]
