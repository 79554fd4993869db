"""Tool use: the right call, several at once, a call and its result, and no call where none is needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic import JsonValue

from runner.endpoint.request import Message, Tool, ToolCall, text_tool
from runner.endpoint.result import StreamResult
from runner.endpoint.suites.case import Case, Feature, Judge, Kind, Puzzle, user
from runner.endpoint.suites.draw import Draw
from runner.endpoint.suites.extraction import ASK_FOR_FINAL, json_value, same_json, whole_number
from runner.endpoint.suites.score import CaseScore, failed, invalid, passed

TOWNS = ("Aarhus", "Bergen", "Cadiz", "Delft", "Evora", "Ghent", "Izmir", "Kotor")
Wanted = tuple[str, dict[str, JsonValue]]


TRACK = text_tool(
    "track_parcel", "Say where a parcel is. Changes nothing.", parcel="number of the parcel, such as P-1"
)
RETURN = text_tool(
    "return_parcel", "Send a parcel back to its sender for good.", parcel="number of the parcel"
)
TEMPERATURE = text_tool(
    "read_temperature", "Temperature of a town's weather station now.", town="name of the town"
)
STOCK = text_tool(
    "count_stock", "How many pieces of an article lie in the store.", article="code of the article"
)


def _calls_text(calls: Sequence[ToolCall]) -> str:
    return "; ".join(f"{call.name}({call.arguments})" for call in calls)


def calls_judge(wanted: Sequence[Wanted], offered: Sequence[Tool]) -> Judge:
    """A judge that wants exactly these calls, in any order, with these arguments and no others.

    Metrics: ``tool_calls``, and ``hallucinated_calls``, those of tools that were never offered.
    """
    names = {tool.name for tool in offered}
    expected = "; ".join(f"{name}({json.dumps(arguments)})" for name, arguments in wanted)

    def judge(result: StreamResult) -> CaseScore:
        """Match each call with one that is wanted and not yet matched."""
        calls = result.tool_calls
        unknown = sum(call.name not in names for call in calls)
        counts = {"tool_calls": float(len(calls)), "hallucinated_calls": float(unknown)}
        answer = _calls_text(calls)
        if not calls:
            return failed("", expected, "no tool was called", counts)
        left = list(wanted)
        for call in calls:
            is_json, arguments = json_value(call.arguments or "{}")
            if not is_json or not isinstance(arguments, dict):
                return invalid(
                    f"the arguments of {call.name[:60]} are no JSON object", expected, answer, counts
                )
            match = next(
                (each for each in left if call.name == each[0] and same_json(arguments, each[1])), None
            )
            if match is None:
                return failed(answer, expected, metrics=counts)
            left.remove(match)
        return failed(answer, expected, metrics=counts) if left else passed(answer, expected, counts)

    return judge


def single_call(_seed: int) -> Puzzle:
    """Of two tools the harmless one is wanted, for one of two parcels that are mentioned."""
    tools = (TRACK, RETURN)
    text = (
        "A customer writes: 'My parcel P-5521 came yesterday, thank you. Where is the other one, P-7730? "
        "Should it be lost I may want it returned, but not before I know.' Use the tools to find out what "
        "the customer asks for, and do no more than that."
    )
    wanted: Wanted = ("track_parcel", {"parcel": "P-7730"})
    return Puzzle(
        (user(text),),
        calls_judge((wanted,), tools),
        "track_parcel P-7730",
        tools=tools,
        tool_choice="required",
    )


def parallel_calls(seed: int) -> Puzzle:
    """Three calls that do not depend on each other, in one answer."""
    tools = (TEMPERATURE, STOCK)
    towns = Draw(seed).shuffled(TOWNS)[:3]
    wanted: list[Wanted] = [("read_temperature", {"town": town}) for town in towns]
    text = (
        f"I need the present temperature in {towns[0]}, in {towns[1]} and in {towns[2]}. The readings do "
        "not depend on each other: ask for all three at once, in one answer, before you say anything else."
    )
    return Puzzle(
        (user(text),), calls_judge(wanted, tools), ", ".join(towns), tools=tools, tool_choice="required"
    )


def round_trip(seed: int) -> Puzzle:
    """A number that only the tool knows, to be used in the answer."""
    draw = Draw(seed)
    article, stock, sold = f"A{draw.integer(1000, 9999)}", draw.integer(200, 900), draw.integer(11, 99)
    tools = (STOCK,)
    text = (
        f"We sell {sold} pieces of article {article} today. Look up how many are in the store and tell me "
        f"how many are left after that. {ASK_FOR_FINAL}"
    )
    score = whole_number(stock - sold)

    def follow(number: int, result: StreamResult) -> tuple[Message, ...] | None:
        """The tool's answers to the calls; None when nothing was called, or after three rounds."""
        if not result.tool_calls or number > 3:
            return None
        return tuple(_answered(call, article, stock) for call in result.tool_calls)

    def judge(result: StreamResult) -> CaseScore:
        """Score the text of the last answer."""
        return score(result.text)

    return Puzzle((user(text),), judge, str(stock - sold), tools=tools, tool_choice="auto", follow=follow)


def _answered(call: ToolCall, article: str, stock: int) -> Message:
    is_json, arguments = json_value(call.arguments)
    known = call.name == STOCK.name and is_json and same_json(arguments, {"article": article})
    said = json.dumps({"pieces": stock} if known else {"error": "there is no such tool or article"})
    return Message(role="tool", content=said, tool_call_id=call.identifier)


def no_call_needed(_seed: int) -> Puzzle:
    """Tools are offered that have nothing to do with the question."""
    score = whole_number(84)
    text = (
        "A parcel service weighs parcels in groups. Six parcels weigh 14 pounds each. How many pounds do "
        f"they weigh together? {ASK_FOR_FINAL}"
    )

    def judge(result: StreamResult) -> CaseScore:
        """Failed when a tool was called, else the score of the text."""
        if result.tool_calls:
            count = float(len(result.tool_calls))
            return failed(
                _calls_text(result.tool_calls), "84", "a tool was called for nothing", {"tool_calls": count}
            )
        return score(result.text)

    return Puzzle((user(text),), judge, "84", tools=(TRACK, RETURN), tool_choice="auto")


def _case(identifier: str, title: str, description: str, make: Callable[[int], Puzzle]) -> Case:
    return Case(
        identifier=identifier,
        title=title,
        kind=Kind.QUALITY,
        category="tools",
        dimension="tool-use",
        difficulty="medium",
        description=description,
        make=make,
        runs=2,
        needs=frozenset({Feature.TOOLS}),
    )


SINGLE = _case(
    "tool_selection_exact",
    "The one right call",
    "Exactly one call, of the right tool of two, with exactly the right arguments.",
    single_call,
)
PARALLEL = replace(
    _case(
        "tool_parallel_calls",
        "Three calls in one answer",
        "Independent calls made together; asked only of targets that can.",
        parallel_calls,
    ),
    seeded=True,
    needs=frozenset({Feature.TOOLS, Feature.PARALLEL_TOOLS}),
)
ROUND_TRIP = replace(
    _case(
        "tool_round_trip",
        "A call and what it brings back",
        "Two requests: the call, then an answer that uses its result.",
        round_trip,
    ),
    seeded=True,
)
NO_CALL = replace(
    _case(
        "tool_not_needed",
        "Tools that are of no use",
        "The question can be answered without a tool, and should be.",
        no_call_needed,
    ),
    difficulty="easy",
    runs=1,
)
