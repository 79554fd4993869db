"""Bus: priorities, one-time subscribers and unsubscribing, in four files that belong together."""

from __future__ import annotations

from runner.endpoint.suites.coding.task import Check, CodingTask

BUS = '''\
"""The bus that events travel on."""

from signalbox.history import History
from signalbox.matching import matches


class Bus:
    """Subscribers by pattern. An event has a topic, such as ``order.paid``, and a value."""

    def __init__(self, keep=10):
        self._subscribers = []
        self.history = History(keep)

    def subscribe(self, pattern, handler):
        """Call ``handler(topic, value)`` for every event whose topic fits ``pattern``."""
        self._subscribers.append((pattern, handler))

    def publish(self, topic, value=None):
        """Tell every subscriber; returns how many were told."""
        told = 0
        for pattern, handler in self._subscribers:
            if matches(pattern, topic):
                handler(topic, value)
                told += 1
        self.history.remember(topic, told)
        return told
'''
MATCHING = '''\
"""Which topics a pattern fits."""


def matches(pattern, topic):
    """``*`` stands for one part of a topic; parts are parted by dots."""
    wanted, given = pattern.split("."), topic.split(".")
    return len(wanted) == len(given) and all(one in ("*", other) for one, other in zip(wanted, given))
'''
HISTORY = '''\
"""The last events."""


class History:
    """Keeps the last ``keep`` events as pairs of topic and number of handlers that were told."""

    def __init__(self, keep):
        self.keep = keep
        self._events = []

    def remember(self, topic, told):
        """Add an event."""
        self._events.append((topic, told))
        if len(self._events) > self.keep:
            self._events = self._events[: self.keep]

    def events(self):
        """The events, the oldest first."""
        return list(self._events)
'''
RECORDER = '''\
"""A subscriber that writes events down, for tests and for looking into a running program."""


class Recorder:
    """Use ``Recorder(bus, "order.*")``; what came stands in ``seen``."""

    def __init__(self, bus, pattern):
        self.seen = []
        bus.subscribe(pattern, self._take)

    def _take(self, topic, value):
        self.seen.append((topic, value))
'''
INIT = """\
from signalbox.bus import Bus
from signalbox.recorder import Recorder

__all__ = ["Bus", "Recorder"]
"""
TESTS = """\
import unittest

from signalbox import Bus, Recorder


class Events(unittest.TestCase):
    def test_publish(self):
        bus = Bus()
        recorder = Recorder(bus, "order.*")
        self.assertEqual(bus.publish("order.paid", 5), 1)
        self.assertEqual(recorder.seen, [("order.paid", 5)])

    def test_priority(self):
        bus, said = Bus(), []
        bus.subscribe("a", lambda topic, value: said.append("late"))
        bus.subscribe("a", lambda topic, value: said.append("early"), priority=5)
        bus.publish("a")
        self.assertEqual(said, ["early", "late"])

    def test_cancel(self):
        bus, said = Bus(), []
        subscription = bus.subscribe("a", lambda topic, value: said.append(value))
        subscription.cancel()
        self.assertEqual(bus.publish("a", 1), 0)

    def test_recorder_stops(self):
        bus = Bus()
        recorder = Recorder(bus, "a")
        recorder.stop()
        bus.publish("a")
        self.assertEqual(recorder.seen, [])


if __name__ == "__main__":
    unittest.main()
"""
_HEAD = (
    "from signalbox import Bus, Recorder\n"
    "bus, said = Bus(), []\n"
    "def tell(name):\n"
    "    return lambda topic, value: said.append(name)\n"
)
CHECKS = (
    Check(
        "priorities first, then the order of subscribing",
        _HEAD + "for name, rank in (('a', 0), ('b', 3), ('c', 0), ('d', 3), ('e', -1)):\n"
        "    bus.subscribe('x', tell(name), priority=rank)\n"
        "bus.publish('x')\nresult = said",
        ["b", "d", "a", "c", "e"],
    ),
    Check(
        "once means once",
        _HEAD
        + "bus.subscribe('x', tell('once'), once=True)\nresult = [bus.publish('x'), bus.publish('x'), said]",
        [1, 0, ["once"]],
    ),
    Check(
        "once waits for a topic that fits",
        _HEAD + "bus.subscribe('y', tell('y'), once=True)\n"
        "result = [bus.publish('x'), bus.publish('y'), bus.publish('y')]",
        [0, 1, 0],
    ),
    Check(
        "a handler that publishes does not get a one-time event twice",
        _HEAD + "def again(topic, value):\n    said.append(value)\n    if value < 3:\n"
        "        bus.publish('x', value + 1)\n"
        "bus.subscribe('x', again, once=True)\nbus.publish('x', 0)\nresult = said",
        [0],
    ),
    Check(
        "cancelled while an event is on its way",
        _HEAD + "later = bus.subscribe('x', tell('late'))\n"
        "bus.subscribe('x', lambda topic, value: later.cancel(), priority=1)\nresult = [bus.publish('x'), "
        "said]",
        [1, []],
    ),
    Check(
        "subscribed while an event is on its way",
        _HEAD + "bus.subscribe('x', lambda topic, value: bus.subscribe('x', tell('new')), once=True)\n"
        "result = [bus.publish('x'), said, bus.publish('x'), said]",
        [1, ["new"], 1, ["new"]],
    ),
    Check(
        "cancel twice, and of one of two",
        _HEAD + "one = bus.subscribe('x', tell('1'))\ntwo = bus.subscribe('x', tell('2'))\none.cancel()\n"
        "one.cancel()\nbus.publish('x')\n"
        "result = [said, one.active, two.active]",
        [["2"], False, True],
    ),
    Check(
        "the same handler twice is two subscriptions",
        _HEAD + "h = tell('h')\na = bus.subscribe('x', h)\nb = bus.subscribe('x', h)\na.cancel()\n"
        "result = [bus.publish('x'), b.active]",
        [1, True],
    ),
    Check(
        "a one-time subscription is over after its event",
        _HEAD + "s = bus.subscribe('x', tell('1'), once=True)\nbefore = s.active\nbus.publish('x')\n"
        "result = [before, s.active]",
        [True, False],
    ),
    Check(
        "patterns with two stars",
        _HEAD + "bus.subscribe('order.**', tell('all'))\nbus.subscribe('**.paid', tell('paid'))\n"
        "result = [bus.publish(t) for t in ('order', 'order.a', 'order.a.b', 'bill.paid', 'paid', "
        "'order.paid', 'orders.a')]",
        [1, 1, 1, 1, 1, 2, 0],
    ),
    Check(
        "a recorder stops",
        _HEAD + "r = Recorder(bus, 'x.*')\nbus.publish('x.1', 1)\nr.stop()\nbus.publish('x.2', 2)\n"
        "result = [r.seen, bus.publish('x.3')]",
        [[["x.1", 1]], 0],
    ),
    Check(
        "the history keeps the last events",
        _HEAD + "bus = Bus(keep=2)\n[bus.publish(t) for t in 'abc']\nresult = bus.history.events()",
        [["b", 0], ["c", 0]],
    ),
)
TASK = CodingTask(
    identifier="agentic_multi_file",
    title="An event bus that can do more",
    difficulty="medium",
    files={
        "README.md": "# signalbox\n\nA small bus for events. `Bus.subscribe`, `Bus.publish`, `Recorder`.\n",
        "signalbox/__init__.py": INIT,
        "signalbox/bus.py": BUS,
        "signalbox/matching.py": MATCHING,
        "signalbox/history.py": HISTORY,
        "signalbox/recorder.py": RECORDER,
        "tests/test_events.py": TESTS,
    },
    request=(
        "Extend the bus.\n"
        "1. subscribe takes priority (a number, 0 unless given): higher ones are told first, equal ones in "
        "the order in which they subscribed.\n"
        "2. subscribe takes once=True: the handler is told of the first event that fits and never again, "
        "even where it publishes an event of that kind itself.\n"
        "3. subscribe returns a subscription with a method cancel() (calling it again does nothing) and an "
        "attribute active. Who is cancelled while an event is on its way and has not been told yet is not "
        "told. Who subscribes while an event is on its way is told from the next event on.\n"
        "4. In patterns, ** stands for any number of parts, none included: order.** fits order, order.a and "
        "order.a.b; **.paid fits paid and bill.paid.\n"
        "5. Recorder gets a method stop().\n"
        "And one thing is broken: the history is said to keep the last events, but after a while nothing "
        "new appears in it. Repair that too."
    ),
    checks=CHECKS,
    max_turns=24,
)
