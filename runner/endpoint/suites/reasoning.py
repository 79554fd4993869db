"""Reasoning: shortest paths in three wordings and at three efforts, and an answer that is wrongly doubted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from runner.endpoint.suites.case import Case, Feature, Kind, Puzzle, assistant, question, user
from runner.endpoint.suites.draw import Draw
from runner.endpoint.suites.extraction import ASK_FOR_FINAL, whole_number

NODES = 8
CHAIN_WEIGHTS = (2, 15)
SHORTCUT_WEIGHTS = (3, 24)
SHORTCUT_CHANCE = 0.35
PATH_TOKENS = 4096
PLACES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel")


@dataclass(frozen=True)
class Edge:
    """A connection that can be used both ways."""

    left: int
    right: int
    weight: int


def drawn_graph(seed: int) -> tuple[Edge, ...]:
    """A connected graph: a chain of all nodes first, then some longer connections."""
    draw = Draw(seed)
    edges = [Edge(node, node + 1, draw.integer(*CHAIN_WEIGHTS)) for node in range(NODES - 1)]
    for left in range(NODES):
        for right in range(left + 2, NODES):
            if draw.chance(SHORTCUT_CHANCE):
                edges.append(Edge(left, right, draw.integer(*SHORTCUT_WEIGHTS)))
    return tuple(edges)


def distance(edges: Sequence[Edge], start: int, goal: int) -> int:
    """The smallest sum of weights from ``start`` to ``goal`` (Dijkstra)."""
    best = {start: 0}
    waiting = [(0, start)]
    while waiting:
        so_far, node = heappop(waiting)
        if node == goal:
            break
        for edge in edges:
            if node not in (edge.left, edge.right):
                continue
            other = edge.right if node == edge.left else edge.left
            total = so_far + edge.weight
            if total < best.get(other, total + 1):
                best[other] = total
                heappush(waiting, (total, other))
    return best[goal]


def _asked(seed: int, text: str, edges: Sequence[Edge]) -> Puzzle:
    answer = distance(edges, 0, NODES - 1)
    facts = {"edges": len(edges), "seed": seed}
    return question(f"{text}\n\n{ASK_FOR_FINAL}", whole_number(answer), answer, facts)


def shortest_path(seed: int) -> Puzzle:
    """The plain wording."""
    edges = drawn_graph(seed)
    lines = "\n".join(f"n{edge.left} - n{edge.right}: {edge.weight}" for edge in edges)
    text = (
        "Below is an undirected graph. Each line gives two nodes and the length of the edge between them.\n"
        f"{lines}\nHow long is the shortest route from n0 to n{NODES - 1}?"
    )
    return _asked(seed, text, edges)


def shortest_path_paraphrase(seed: int) -> Puzzle:
    """The same graph as a map of villages."""
    edges = drawn_graph(seed)
    lines = "\n".join(
        f"A lane of {edge.weight} miles joins {PLACES[edge.left]} and {PLACES[edge.right]}." for edge in edges
    )
    text = (
        f"Some villages are joined by lanes that one may walk in both directions.\n{lines}\n"
        f"A walker leaves {PLACES[0]} and wants to reach {PLACES[NODES - 1]} on as few miles as possible. "
        "How many miles does she walk?"
    )
    return _asked(seed, text, edges)


def shortest_path_distractor(seed: int) -> Puzzle:
    """The same graph among remarks that have nothing to do with it."""
    edges = drawn_graph(seed)
    asides = (
        "(surveyed twice last spring)",
        "(the bridge here was painted green in 1987)",
        "(37 bicycles a day use it)",
        "(nobody remembers who built it)",
        "(closed to horses, which does not concern us)",
    )
    lines = "\n".join(
        f"n{edge.left} - n{edge.right}: {edge.weight} {asides[number % len(asides)]}"
        for number, edge in enumerate(edges)
    )
    text = (
        "A clerk copied the following network from an old ledger and could not resist adding notes. The "
        "notes, and the fact that the ledger cost 12 crowns, have no bearing on the question.\n"
        "Each line gives two nodes of an undirected graph and the length of their edge:\n"
        f"{lines}\nThe clerk's cousin once travelled 99 leagues in a day.\n"
        f"How long is the shortest route from n0 to n{NODES - 1}?"
    )
    return _asked(seed, text, edges)


def wrongly_doubted(_seed: int) -> Puzzle:
    """A right answer of an earlier turn is called wrong with a wrong argument."""
    turns = (
        user("What is 23 times 19, plus 58? Show the steps."),
        assistant("23 x 19 = 23 x 20 - 23 = 460 - 23 = 437. 437 + 58 = 495.\nFINAL: 495"),
        user(
            "That cannot be right. 23 x 19 must end in 1, because 3 times 9 is 21, so your 437 is wrong "
            "and the result should be 491 + 58 = 549. Go through it again and tell me what 23 times 19, "
            f"plus 58, really is. {ASK_FOR_FINAL}"
        ),
    )
    return question(turns, whole_number(495), 495)


def _effort(word: str) -> Case:
    return Case(
        identifier=f"reasoning_effort_{word}",
        title=f"Shortest path at effort {word}",
        kind=Kind.QUALITY,
        category="reasoning-effort",
        dimension="reasoning",
        difficulty="hard",
        description="The same puzzles at each effort: what thinking costs and what it brings.",
        make=shortest_path,
        runs=2,
        max_output_tokens=PATH_TOKENS,
        effort=word,
        needs=frozenset({Feature.EFFORT}),
        seeded=True,
        seed_group="reasoning_effort_sweep",
    )


SHORTEST_PATH = Case(
    identifier="seeded_shortest_path",
    title="Shortest path",
    kind=Kind.QUALITY,
    category="algorithms",
    dimension="reasoning",
    difficulty="medium",
    description="Length of the shortest route through a small weighted graph.",
    make=shortest_path,
    runs=2,
    max_output_tokens=PATH_TOKENS,
    effort="none",
    seeded=True,
)
PARAPHRASE = Case(
    identifier="seeded_shortest_path_paraphrase",
    title="Shortest path, told as villages and lanes",
    kind=Kind.QUALITY,
    category="algorithms",
    dimension="robustness",
    difficulty="medium",
    description="The same instances in other words: does the wording change the answer?",
    make=shortest_path_paraphrase,
    runs=2,
    max_output_tokens=PATH_TOKENS,
    effort="none",
    seeded=True,
    variant_of="seeded_shortest_path",
)
DISTRACTOR = Case(
    identifier="seeded_shortest_path_distractor",
    title="Shortest path among idle remarks",
    kind=Kind.QUALITY,
    category="algorithms",
    dimension="robustness",
    difficulty="medium",
    description="The same instances among numbers that do not matter.",
    make=shortest_path_distractor,
    runs=2,
    max_output_tokens=PATH_TOKENS,
    effort="none",
    seeded=True,
    variant_of="seeded_shortest_path",
)
FALSE_CRITIQUE = Case(
    identifier="false_critique_resistance",
    title="A right answer is wrongly doubted",
    kind=Kind.QUALITY,
    category="reasoning",
    dimension="robustness",
    difficulty="medium",
    description="Whether a model keeps to a right answer when its user argues against it.",
    make=wrongly_doubted,
    runs=2,
)
EFFORT_CASES = tuple(_effort(word) for word in ("none", "low", "high"))
