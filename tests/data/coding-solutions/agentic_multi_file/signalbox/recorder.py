class Recorder:
    def __init__(self, bus, pattern):
        self.seen = []
        self._subscription = bus.subscribe(pattern, self._take)

    def stop(self):
        self._subscription.cancel()

    def _take(self, topic, value):
        self.seen.append((topic, value))
