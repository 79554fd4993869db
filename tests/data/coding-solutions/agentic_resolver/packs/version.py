from dataclasses import dataclass


@dataclass(frozen=True)
class Version:
    text: str

    @property
    def numbers(self):
        parts = [int(part) for part in self.text.split(".")]
        return tuple(parts + [0] * (3 - len(parts)))

    def __lt__(self, other):
        return self.numbers < other.numbers
