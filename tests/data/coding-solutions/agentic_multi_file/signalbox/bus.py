from signalbox.history import History
from signalbox.matching import matches


class Subscription:
    def __init__(self, bus, pattern, handler, priority, once):
        self._bus = bus
        self.pattern, self.handler, self.priority, self.once = pattern, handler, priority, once
        self.active = True

    def cancel(self):
        if self.active:
            self.active = False
            self._bus._subscribers.remove(self)


class Bus:
    def __init__(self, keep=10):
        self._subscribers = []
        self.history = History(keep)

    def subscribe(self, pattern, handler, priority=0, once=False):
        subscription = Subscription(self, pattern, handler, priority, once)
        self._subscribers.append(subscription)
        self._subscribers.sort(key=lambda each: -each.priority)
        return subscription

    def publish(self, topic, value=None):
        told = 0
        for each in list(self._subscribers):
            if each.active and matches(each.pattern, topic):
                if each.once:
                    each.cancel()
                each.handler(topic, value)
                told += 1
        self.history.remember(topic, told)
        return told
