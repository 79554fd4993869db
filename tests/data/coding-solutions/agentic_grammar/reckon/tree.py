from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Name:
    name: str
    place: int


@dataclass(frozen=True)
class Negated:
    value: object


@dataclass(frozen=True)
class Call:
    name: str
    values: tuple
    place: int


@dataclass(frozen=True)
class Binary:
    sign: str
    left: object
    right: object
    place: int
