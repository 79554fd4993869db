"""Pre-flight: what would make a run fail, found before it starts, each with what puts it right."""

from runner.engine.preflight.judging import Judge
from runner.engine.preflight.report import Report

__all__ = ["Judge", "Report"]
