"""Trial queue: which trial starts next, and why none does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from runner.engine.spending import Account
from runner.engine.tally import Tally
from runner.engine.wallclock import WallClock
from runner.records import PlannedTrial, PlanRecord


class TrialQueue:
    """The trials that are left, in the order of the plan, as long as budgets and time last.

    Args:
        left: positions without a record that may be run.
        has_dollar_budget: whether an unknown cost is worth a word.
        say: told once each why trials do not start.
    """

    def __init__(
        self,
        plan: PlanRecord,
        left: Iterable[int],
        *,
        account: Account,
        tally: Tally,
        wall: WallClock,
        has_dollar_budget: bool,
        say: Callable[[str], None],
    ) -> None:
        self._plan, self._account, self._tally, self._wall = plan, account, tally, wall
        self._has_dollar_budget = has_dollar_budget
        self._tell = say
        self._left = set(left)
        self._turn: deque[int] = deque()
        self._said: set[str] = set()

    def begin(self, positions: Iterable[int]) -> None:
        """Go on with those of ``positions`` that are left."""
        self._turn = deque(position for position in positions if position in self._left)

    def next(self) -> tuple[int, PlannedTrial] | None:
        """The next trial with its position; None when there is none that may start."""
        while self._turn and self._may_start_any():
            position = self._turn.popleft()
            if self._may_start(position):
                self._left.discard(position)
                return position, self._plan.trials[position]
        return None

    def put_back(self, position: int) -> None:
        """A trial that was taken and came to nothing is left again."""
        self._left.add(position)

    def has_any(self, positions: Iterable[int]) -> bool:
        """Whether one of ``positions`` is left and may start: asked before a server is switched for it."""
        left = [position for position in positions if position in self._left]
        return bool(left) and self._may_start_any() and any([self._may_start(each) for each in left])

    def _may_start_any(self) -> bool:
        if self._tally.unpriced and self._has_dollar_budget:
            self._say("a budget in dollars cannot be kept: the cost of finished trials is unknown")
        return self._agrees(self._account.run_used_up() or self._wall.over())

    def _may_start(self, position: int) -> bool:
        return self._agrees(self._account.cell_used_up(self._plan.trials[position].identity.cell.key))

    def _agrees(self, reason: str | None) -> bool:
        if reason is not None:
            self._say(reason)
        return reason is None

    def _say(self, reason: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            self._tell(reason)
