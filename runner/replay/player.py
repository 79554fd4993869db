"""Player: decides what the scripted model answers to a conversation."""

from __future__ import annotations

import hashlib

from runner.replay.conversation import Answer, Conversation, RequestFault, ToolCall
from runner.replay.library import Library, nearest
from runner.replay.scenario import Faults, Scenario
from runner.replay.toolbox import call_for, fill_marks
from runner.replay.turns import Turn


def find_turn(library: Library, scenario: Scenario, conversation: Conversation) -> Turn:
    """The recorded turn that comes next.

    Raises:
        RequestFault: no such dataset, model, task or step; says which, and what there is.
    """
    datasets = library.datasets()
    if scenario.dataset not in datasets:
        raise RequestFault(
            f"no cassette for dataset {scenario.dataset!r}; {nearest(scenario.dataset, datasets)}",
            status=404,
            code="unknown_dataset",
        )
    cassette = library.cassettes.get((scenario.dataset, conversation.model))
    if cassette is None:
        models = tuple(library.models(scenario.dataset))
        raise RequestFault(
            f"no cassette of model {conversation.model!r} for dataset {scenario.dataset!r}; "
            f"{nearest(conversation.model, models)}",
            status=404,
            code="model_not_found",
        )
    where = f"cassette {scenario.dataset}/{conversation.model}.jsonl"
    key = (scenario.task, conversation.invocation)
    if key not in cassette.turns:
        raise RequestFault(
            f"{where} has no turns for the {key[1]} invocation of task {scenario.task!r}; "
            f"{nearest(scenario.task, cassette.tasks())}",
            status=404,
            code="unknown_task",
        )
    turn = cassette.turn_after(*key, conversation.tool_results)
    if turn is None:
        turns = cassette.turns[key]
        starts = [sum(len(earlier.actions) for earlier in turns[:index]) for index in range(len(turns))]
        raise RequestFault(
            f"{where}, task {scenario.task!r}: "
            f"no step begins after {conversation.tool_results} tool results; "
            f"steps begin after {', '.join(str(start) for start in starts)}",
            status=404,
            code="unknown_step",
        )
    return turn


def play(turn: Turn, scenario: Scenario, conversation: Conversation, faults: Faults) -> Answer:
    """``turn`` as an answer to this conversation, with the tools the agent offers.

    Raises:
        RequestFault: the turn cannot be played with these tools or this prompt.
    """
    identity = f"{scenario.run}\n{scenario.task}\n{turn.step}"
    digest = hashlib.sha256(identity.encode()).hexdigest()
    calls = []
    for index, action in enumerate(turn.actions):
        name, arguments = call_for(action, conversation)
        calls.append(ToolCall(f"call_{digest[:12]}_{index}", name, arguments))
    told = conversation.wants_usage and not faults.no_usage
    return Answer(
        identifier=f"replay-{digest[:24]}",
        model=conversation.model,
        text=fill_marks(turn.say, conversation),
        calls=tuple(calls),
        usage=turn.usage if told else None,
        cache_detail=not faults.no_cache_detail,
    )
