"""Algorithm puzzles: small instances of classic problems, to be solved by thinking."""

from __future__ import annotations

from runner.endpoint.suites.case import Case
from runner.endpoint.suites.puzzles_numbers import number_case

ITEMS = ((4, 13), (7, 21), (5, 14), (9, 30), (3, 8), (6, 20), (8, 25), (2, 5), (10, 34), (5, 17))
"""Weight and worth."""
CAPACITY = 29
ROADS = (
    ("A", "B", 7),
    ("A", "C", 12),
    ("A", "D", 20),
    ("B", "C", 4),
    ("B", "E", 15),
    ("C", "D", 6),
    ("C", "F", 11),
    ("D", "F", 4),
    ("D", "G", 9),
    ("E", "F", 3),
    ("E", "H", 8),
    ("F", "G", 6),
    ("F", "H", 10),
    ("G", "I", 5),
    ("H", "I", 2),
    ("H", "J", 12),
    ("I", "J", 7),
    ("B", "G", 25),
    ("E", "J", 19),
)
STEPS = "abcdefghi"
BEFORE = (
    ("a", "d"),
    ("b", "d"),
    ("b", "e"),
    ("c", "f"),
    ("d", "g"),
    ("e", "h"),
    ("a", "e"),
    ("f", "i"),
    ("c", "h"),
    ("d", "i"),
)
JOBS = (
    (1, 4, 9),
    (3, 5, 6),
    (0, 6, 13),
    (5, 7, 8),
    (3, 9, 17),
    (5, 9, 12),
    (6, 10, 11),
    (8, 11, 10),
    (8, 12, 16),
    (2, 14, 24),
)
"""Start, end and pay."""
WORD_PAIR = ("marketplace", "parliaments")
COSTS = (
    (9, 4, 7, 8, 6, 5),
    (6, 8, 5, 4, 9, 7),
    (7, 5, 9, 6, 4, 8),
    (5, 9, 6, 7, 8, 3),
    (8, 7, 3, 9, 5, 6),
    (6, 6, 8, 5, 7, 9),
)


def _knapsack() -> str:
    lines = "\n".join(
        f"item {number}: {weight} kg, worth {worth}" for number, (weight, worth) in enumerate(ITEMS, 1)
    )
    return (
        f"A mule carries at most {CAPACITY} kg. Each item may be taken once or left.\n{lines}\n"
        "What is the greatest total worth it can carry?"
    )


def _roads() -> str:
    lines = ", ".join(f"{left}-{right} {length}" for left, right, length in ROADS)
    return (
        f"Roads between towns, usable both ways, with their lengths: {lines}. "
        "How far is it from A to J at least?"
    )


def _orders() -> str:
    rules = ", ".join(f"{first} before {second}" for first, second in BEFORE)
    return (
        f"The steps {', '.join(STEPS)} are done one after the other, each once. Rules: {rules}. "
        "In how many orders can all of them be done?"
    )


def _jobs() -> str:
    lines = "\n".join(f"from {start} to {end}: {pay} coins" for start, end, pay in JOBS)
    return (
        "One person may take any of these jobs that do not overlap; a job may begin at the moment another "
        f"ends.\n{lines}\nHow many coins can be earned at most?"
    )


def _distance() -> str:
    left, right = WORD_PAIR
    return (
        "A step inserts one letter, deletes one letter, or replaces one letter by another. "
        f"How many steps does it take at least to turn '{left}' into '{right}'?"
    )


def _assignment() -> str:
    rows = "\n".join(f"worker {number}: {' '.join(map(str, row))}" for number, row in enumerate(COSTS, 1))
    return (
        "Each worker does exactly one of six tasks and each task is done by one worker. The line of a "
        f"worker gives the hours for task 1 to task 6.\n{rows}\nWhat is the smallest possible sum of hours?"
    )


ALGORITHM_CASES: tuple[Case, ...] = (
    number_case("knapsack", "What the mule carries", "algorithms", _knapsack(), 97),
    number_case("shortest_path", "From town A to town J", "algorithms", _roads(), 38),
    number_case("topological_orders", "Orders of nine steps", "algorithms", _orders(), 758),
    number_case("weighted_scheduling", "Jobs that do not overlap", "algorithms", _jobs(), 33),
    number_case("edit_distance", "From one word to another", "algorithms", _distance(), 9),
    number_case("assignment", "Six workers, six tasks", "algorithms", _assignment(), 24),
)
