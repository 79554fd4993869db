class History:
    def __init__(self, keep):
        self.keep = keep
        self._events = []

    def remember(self, topic, told):
        self._events.append((topic, told))
        if len(self._events) > self.keep:
            self._events = self._events[-self.keep :] if self.keep else []

    def events(self):
        return list(self._events)
