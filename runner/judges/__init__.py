"""Judges: what is judged by which rubric, how a model is asked, and which answers count."""

from runner.judges.registry import judge
from runner.judges.rubric import Rubric, rubric_for

__all__ = ["Rubric", "judge", "rubric_for"]
