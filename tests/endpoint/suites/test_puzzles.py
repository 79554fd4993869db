"""The fifteen puzzles: each answer worked out here again, in another way."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from math import comb

import pytest

from runner.endpoint.suites import puzzles_algorithms as algorithms
from runner.endpoint.suites import puzzles_logic as logic
from runner.endpoint.suites import puzzles_numbers as numbers
from runner.endpoint.suites.case import Case, Slot
from runner.endpoint.suites.catalogue import PUZZLE_CASES

CASES: dict[str, Case] = {case.identifier: case for case in PUZZLE_CASES}


def expected(identifier: str) -> str:
    return CASES[identifier].puzzle(1, Slot(1)).expected


def text(identifier: str) -> str:
    return CASES[identifier].puzzle(1, Slot(1)).messages[0].content


def test_there_are_fifteen() -> None:
    assert len(CASES) == 15


def test_power() -> None:
    base, exponent, modulus = numbers.POWER
    value = 1
    for _ in range(exponent):
        value = value * base % modulus
    assert expected("number_theory_powmod") == str(value)


def test_remainders() -> None:
    fitting = (
        number
        for number in itertools.count(1)
        if all(number % divisor == rest for divisor, rest in numbers.REMAINDERS.items())
    )
    assert expected("number_theory_crt") == str(next(fitting))


def test_recurrence() -> None:
    first, second, third = numbers.RECURRENCE_FACTORS

    @cache
    def term(place: int) -> int:
        if place < 3:
            return numbers.RECURRENCE_START[place]
        return first * term(place - 1) + second * term(place - 2) + third * term(place - 3)

    assert expected("recurrence") == str(term(numbers.RECURRENCE_TERM) % numbers.RECURRENCE_MODULUS)


def test_strings() -> None:
    rows = {(letter, int(letter == "Q")): 1 for letter in "PQR"}
    for _ in range(numbers.STRING_LENGTH - 1):
        grown: dict[tuple[str, int], int] = {}
        for (last, count), ways in rows.items():
            for letter in "PQR":
                if letter != last:
                    key = (letter, count + int(letter == "Q"))
                    grown[key] = grown.get(key, 0) + ways
        rows = grown
    fitting = sum(ways for (_, count), ways in rows.items() if count == numbers.STRING_QS)
    assert expected("constrained_strings") == str(fitting)


def test_determinant() -> None:
    size = len(numbers.MATRIX)
    total = 0
    for order in itertools.permutations(range(size)):
        inversions = sum(order[i] > order[j] for i in range(size) for j in range(i + 1, size))
        product = 1
        for row, column in enumerate(order):
            product *= numbers.MATRIX[row][column]
        total += (-1) ** inversions * product
    assert expected("determinant") == str(total)


def test_urn() -> None:
    copper, silver = numbers.URN["copper"], numbers.URN["silver"]
    chosen, left = numbers.DRAWN_COPPER, numbers.DRAWN - numbers.DRAWN_COPPER
    chance = Fraction(comb(copper, chosen) * comb(silver, left), comb(copper + silver, numbers.DRAWN))
    assert expected("hypergeometric") == f"{chance.numerator}/{chance.denominator}"


def test_knapsack() -> None:
    best = [0] * (algorithms.CAPACITY + 1)
    for weight, worth in algorithms.ITEMS:
        for room in range(algorithms.CAPACITY, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + worth)
    assert expected("knapsack") == str(best[-1])


def test_roads() -> None:
    far = dict.fromkeys("ABCDEFGHIJ", 10**6) | {"A": 0}
    for _ in far:
        for left, right, length in algorithms.ROADS:
            far[right] = min(far[right], far[left] + length)
            far[left] = min(far[left], far[right] + length)
    assert expected("shortest_path") == str(far["J"])


def test_orders() -> None:
    @cache
    def ways(done: frozenset[str]) -> int:
        left = set(algorithms.STEPS) - done
        ready = [s for s in left if all(a in done for a, b in algorithms.BEFORE if b == s)]
        return sum(ways(done | {step}) for step in ready) if left else 1

    assert expected("topological_orders") == str(ways(frozenset()))


def test_jobs() -> None:
    @cache
    def most(free_from: int) -> int:
        return max((pay + most(end) for start, end, pay in algorithms.JOBS if start >= free_from), default=0)

    assert expected("weighted_scheduling") == str(most(0))


def test_edit_distance() -> None:
    left, right = algorithms.WORD_PAIR

    @cache
    def steps(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        same = steps(i - 1, j - 1) + (left[i - 1] != right[j - 1])
        return min(same, steps(i - 1, j) + 1, steps(i, j - 1) + 1)

    assert expected("edit_distance") == str(steps(len(left), len(right)))


def test_assignment_has_one_smallest_sum() -> None:
    sums = sorted(
        sum(algorithms.COSTS[worker][task] for worker, task in enumerate(order))
        for order in itertools.permutations(range(6))
    )
    assert expected("assignment") == str(sums[0])


def test_switches() -> None:
    fitting = [bits for bits in itertools.product((0, 1), repeat=8) if logic.allowed(bits)]
    smallest = "".join(map(str, min(fitting)))
    assert expected("boolean_constraints") == f"{len(fitting)},{smallest}"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_program_prints_what_is_expected() -> None:
    ran = subprocess.run(["node", "-e", logic.PROGRAM], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == expected("javascript_trace")


def test_cipher() -> None:
    turned = (logic.WORD[logic.ROTATE :] + logic.WORD[: logic.ROTATE])[::-1]
    replaced = {"A": "x", "E": "Q", "T": "k"}
    assert expected("instruction_cipher") == "".join(replaced.get(letter, letter) for letter in turned)


@pytest.mark.parametrize("identifier", CASES)
def test_the_text_does_not_give_the_answer_away(identifier: str) -> None:
    assert expected(identifier) not in text(identifier).replace("3,01100110", "")


@pytest.mark.parametrize("identifier", CASES)
def test_the_right_answer_passes_and_another_does_not(identifier: str) -> None:
    from tests.endpoint.suites.stage import said

    puzzle = CASES[identifier].puzzle(1, Slot(1))
    assert puzzle.judge(said(f"Let me see.\nFINAL: {puzzle.expected}")).passed
    assert not puzzle.judge(said(f"FINAL: {puzzle.expected}1")).passed
