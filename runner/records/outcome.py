"""Outcome: the class in which every planned trial ends."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """Why a trial ended as it did. An outcome says nothing about quality: that is a judgement's job."""

    COMPLETED = "completed"
    """All artifacts of the skill are there and the agent ended in order."""
    INCOMPLETE = "incomplete"
    """The agent ended by itself but left artifacts out."""
    MODEL_ERROR = "model_error"
    """The model or its endpoint answered with an error that ended the run."""
    TIMEOUT = "timeout"
    """A wall-clock limit stopped the agent."""
    BUDGET = "budget"
    """A turn, token or money limit stopped the agent."""
    INFRASTRUCTURE = "infrastructure"
    """Our side failed: checkout, process, disk. Says nothing about the cell."""
    CHEATING = "cheating"
    """Found later: the agent used what it must not use."""
    CANCELLED = "cancelled"
    """Stopped by the user before it ended."""


class Standing(StrEnum):
    """Whether a trial enters the figures of its cell."""

    COUNTED = "counted"
    SUPERSEDED = "superseded"
    """A later trial replaces this one, for a reason that is recorded."""
    PROBE = "probe"
    """Run to try something out; never meant to be scored."""
