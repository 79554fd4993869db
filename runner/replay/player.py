"""Player: decides what the scripted model answers to a conversation."""

from __future__ import annotations

import hashlib
import json

from runner.replay import schemas
from runner.replay.blocks import said_at_once, wants_blocks
from runner.replay.cassette import Cassette, Scene
from runner.replay.conversation import Answer, Conversation, RequestFault, ToolCall
from runner.replay.library import Library, nearest
from runner.replay.scenario import Faults, Scenario
from runner.replay.submitting import next_turn, submission, submits
from runner.replay.toolbox import call_for, fill_marks, finishing_call
from runner.replay.turns import STEP_MARK, Action, Shell, Tokens, Turn

SIDE_TURN = Turn(task="side", step=0, say="Replay", usage=Tokens(uncached=7, output=3))
"""What is answered to a request that belongs to no task."""
THOUGHT = "This reasoning is scripted."


def find_turn(library: Library, scenario: Scenario, conversation: Conversation) -> Turn:
    """The recorded turn that comes next.

    Raises:
        RequestFault: no such dataset, model, task or step; says which, and what there is.
    """
    if conversation.is_side_request:
        return SIDE_TURN
    cassette = _cassette(library, scenario, conversation.model)
    where = f"cassette {scenario.dataset}/{conversation.model}.jsonl"
    wanted = Scene(scenario.task, conversation.invocation, conversation.skill, conversation.thread)
    scene = cassette.scene_for(wanted, conversation.prompt)
    if scene is None:
        raise RequestFault(
            f"{where} has no turns for the {wanted.invocation} invocation of task {wanted.task!r} "
            f"with skill {wanted.skill or 'unnamed'}, thread {wanted.thread}; "
            f"{nearest(wanted.task, cassette.tasks())}",
            status=404,
            code="unknown_task",
        )
    if wants_blocks(conversation):
        return said_at_once(cassette.turns[scene], conversation)
    if submits(conversation):
        return next_turn(cassette.turns[scene], conversation)
    turn = cassette.turn_after(scene, conversation.tool_results)
    if turn is None:
        turns = cassette.turns[scene]
        starts = [sum(len(earlier.actions) for earlier in turns[:index]) for index in range(len(turns))]
        raise RequestFault(
            f"{where}, task {scenario.task!r}: "
            f"no step begins after {conversation.tool_results} tool results; "
            f"steps begin after {', '.join(str(start) for start in starts)}",
            status=404,
            code="unknown_step",
        )
    return turn


def _cassette(library: Library, scenario: Scenario, model: str) -> Cassette:
    datasets = library.datasets()
    if scenario.dataset not in datasets:
        raise RequestFault(
            f"no cassette for dataset {scenario.dataset!r}; {nearest(scenario.dataset, datasets)}",
            status=404,
            code="unknown_dataset",
        )
    cassette = library.cassettes.get((scenario.dataset, model))
    if cassette is None:
        models = tuple(library.models(scenario.dataset))
        raise RequestFault(
            f"no cassette of model {model!r} for dataset {scenario.dataset!r}; {nearest(model, models)}",
            status=404,
            code="model_not_found",
        )
    return cassette


def play(turn: Turn, scenario: Scenario, conversation: Conversation, faults: Faults) -> Answer:
    """``turn`` as an answer to this conversation, with the tools the agent offers.

    Raises:
        RequestFault: the turn cannot be played with these tools or this prompt.
    """
    # A turn given for ever needs another identity each time, or clients take its answers for one.
    step = f"{turn.step}.{conversation.tool_results}" if turn.forever else str(turn.step)
    identity = "\n".join((scenario.run, turn.task, turn.invocation, turn.thread, step))
    digest = hashlib.sha256(identity.encode()).hexdigest()
    calls = []
    actions = turn.actions or (submission() if submits(conversation) else ())
    for index, action in enumerate(actions):
        call = call_for(_varied(action, turn, conversation), conversation)
        identifier = f"call_{digest[:12]}_{index}"
        calls.append(ToolCall(identifier, call.name, call.arguments, call.namespace, call.freeform))
    told = conversation.wants_usage and not faults.no_usage
    if not calls and (last := finishing_call(_text(turn, conversation), conversation)) is not None:
        calls.append(ToolCall(f"call_{digest[:12]}_last", last.name, last.arguments, last.namespace))
    said = _text(turn, conversation)
    if conversation.answer_tool is not None and not turn.actions and _is_object(said):
        calls, said = [ToolCall(f"call_{digest[:12]}_answer", conversation.answer_tool, said)], ""
    return Answer(
        identifier=f"replay-{digest[:24]}",
        model=conversation.model,
        text=said,
        calls=tuple(calls),
        usage=turn.usage if told else None,
        cache_detail=not faults.no_cache_detail,
        thought=THOUGHT if turn.usage.reasoning and conversation.thinking else "",
    )


def _varied(action: Action, turn: Turn, conversation: Conversation) -> Action:
    if not turn.forever or not isinstance(action, Shell):
        return action
    command = action.command.replace(STEP_MARK, str(conversation.tool_results))
    return action.model_copy(update={"command": command})


def _text(turn: Turn, conversation: Conversation) -> str:
    """What is said. Where an output form is asked for, the last word follows it, as with a strict server."""
    said = fill_marks(turn.say, conversation)
    if conversation.schema is None or turn.actions:
        return said
    return said if _is_object(said) else json.dumps(schemas.filler({"type": "object", **conversation.schema}))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
