"""Trial queue: which trial starts next, and why none does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from runner.engine.spending import Account
from runner.engine.tally import Tally
from runner.engine.wallclock import WallClock
from runner.records import PlanRecord


class TrialQueue:
    """The trials that are left, in the order of the plan, as long as budgets and time last.

    Args:
        left: positions without a record that may be run.
        has_dollar_budget: whether an unknown cost is worth a word.
        warn: told once each what a user should know.
        refuse: told once each why trials do not start, and whether that holds for the whole run.
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
        warn: Callable[[str], None],
        refuse: Callable[[str, bool], None],
    ) -> None:
        self._plan, self._account, self._tally, self._wall = plan, account, tally, wall
        self._has_dollar_budget = has_dollar_budget
        self._warn, self._refuse = warn, refuse
        self._left = set(left)
        self._turn: deque[int] = deque()
        self._said: set[str] = set()
        self._unserved: set[tuple[str, ...]] = set()

    def begin(self, positions: Iterable[int]) -> None:
        """Go on with those of ``positions`` that are left."""
        self._turn = deque(position for position in positions if position in self._left)

    def next(self) -> int | None:
        """Position of the next trial; None when there is none that may start."""
        while self._turn and self._may_start_any():
            position = self._turn.popleft()
            if self._may_start(position):
                self._left.discard(position)
                return position
        return None

    def put_back(self, position: int) -> None:
        """A trial that was taken and came to nothing is left again."""
        self._left.add(position)

    def leave(self, cells: set[tuple[str, ...]]) -> None:
        """No trial of ``cells`` starts any more: their model is not to be had."""
        self._unserved |= cells

    def has_any(self, positions: Iterable[int]) -> bool:
        """Whether one of ``positions`` is left and may start: asked before a server is switched for it."""
        left = [position for position in positions if position in self._left]
        return bool(left) and self._may_start_any() and any(map(self._may_start, left))

    def _may_start_any(self) -> bool:
        if self._tally.unpriced and self._has_dollar_budget:
            words = "a budget in dollars cannot be kept: the cost of finished trials is unknown"
            self._once(words, self._warn)
        return self._agrees(self._account.run_used_up() or self._wall.over(), of_the_run=True)

    def _may_start(self, position: int) -> bool:
        cell = self._plan.trials[position].identity.cell.key
        served = cell not in self._unserved
        return served and self._agrees(self._account.cell_used_up(cell), of_the_run=False)

    def _agrees(self, reason: str | None, *, of_the_run: bool) -> bool:
        if reason is not None:
            self._once(reason, lambda text: self._refuse(text, of_the_run))
        return reason is None

    def _once(self, text: str, tell: Callable[[str], None]) -> None:
        if text not in self._said:
            self._said.add(text)
            tell(text)
