"""Sitting: a runner that has taken up a benchmark: its sign of life, and how it is stopped in each phase."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from runner.engine.bench.standing import bench_name
from runner.engine.journal import Journal
from runner.engine.places import Places
from runner.engine.presence import present
from runner.engine.signals import heard
from runner.engine.stop import Stop

Say = Callable[[str], None]


@dataclass
class Sitting:
    """What the user wants by now, and what the runner says of itself."""

    journal: Journal
    stop: Stop = field(default_factory=Stop)
    is_preparing: bool = field(default=False, init=False)

    @contextmanager
    def preparing(self, phase: Literal["pre-flight", "calibrating"]) -> Iterator[None]:
        """While open, one press ends it: nothing is in flight that would be worth waiting for.

        Raises:
            KeyboardInterrupt: it is pressed, or was before.
        """
        self.journal.say(phase=phase)
        self.is_preparing = True
        if self.stop.no_more.is_set():
            # Pressed before it had begun, when there was nothing that the handler could end.
            raise KeyboardInterrupt
        yield
        self.is_preparing = False
        self.journal.say(phase="running")

    def interrupt(self) -> None:
        """End the preparation; for a signal handler, which runs in the main thread.

        Raises:
            KeyboardInterrupt: something is prepared. Only such a one is let through by an event loop from
                wherever it is raised.
        """
        if self.is_preparing:
            raise KeyboardInterrupt


@contextmanager
def taken_up(places: Places, run_id: str, concurrency: int, say: Say) -> Iterator[Sitting]:
    """While open, ``invoke status`` sees the runner and ``invoke stop`` reaches it; its lock is held.

    Args:
        concurrency: trials at a time.
    """
    stop = Stop()
    with present(places.state(bench_name(run_id)), run_id, stop.state, concurrency=concurrency) as journal:
        sitting = Sitting(journal, stop)
        with heard(lambda _: _pressed(sitting, say), at_once=sitting.interrupt):
            yield sitting


def _pressed(sitting: Sitting, say: Say) -> None:
    """The first Ctrl-C lets what is in flight end, the second one gives it up."""
    silent, second = sitting.is_preparing, sitting.stop.press()
    if not silent:
        say(
            "Giving up the trials in flight; resume will make them again."
            if second
            else "Finishing the trials in flight; press Ctrl-C again to give them up."
        )
