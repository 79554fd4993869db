"""Wall clock: how long a plan may be worked on, over all the runners that took it up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

HOUR = 3600.0


@dataclass
class WallClock:
    """Counts the time that runners were at work on a plan.

    Time between a kill and the next runner is not counted: a run that went on for three of eight hours has
    five left, whenever it is taken up again.
    """

    max_hours: float | None = None
    """After so many hours no trial starts."""
    end_hours: float | None = None
    """After so many hours the trials in flight are stopped too."""
    earlier_seconds: float = 0.0
    """How long earlier runners were at work."""
    clock: Callable[[], float] = time.monotonic
    """Seconds that never jump."""
    _begun: float = field(init=False)

    def __post_init__(self) -> None:
        self._begun = self.clock()

    def seconds(self) -> float:
        """Seconds that runners were at work on the plan, this one included."""
        return self.earlier_seconds + self.clock() - self._begun

    def over(self) -> str | None:
        """Why no trial may start any more, in words."""
        return self._passed(self.max_hours, "no trial starts after") or self.past_end()

    def past_end(self) -> str | None:
        """Why trials in flight must stop, in words."""
        return self._passed(self.end_hours, "everything ends after")

    def until_end(self) -> float | None:
        """Seconds until trials in flight must stop; None where they never must."""
        return None if self.end_hours is None else max(self.end_hours * HOUR - self.seconds(), 0.0)

    def _passed(self, hours: float | None, words: str) -> str | None:
        if hours is None or self.seconds() < hours * HOUR:
            return None
        return f"the time of the run is used up: {words} {hours:g} hours at work"
