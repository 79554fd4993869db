"""Submitting: the way of an agent whose one tool is a shell and which goes on until a certain command is run.

It refuses an answer of which one call is wrong as a whole, and says so in words instead of results. So wrong
calls are made only where they stand alone in their answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner.replay.conversation import Conversation
from runner.replay.turns import Action, RawCall, Shell, Turn

SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""In its prompt, and what the command at the end has to say."""
COMPLAINT = "Tool call error:"


def submits(conversation: Conversation) -> bool:
    """Whether the agent is of this kind."""
    return SUBMIT in conversation.prompt and bool(conversation.tools)


def submission() -> tuple[Action, ...]:
    """What ends the work."""
    return (Shell(do="shell", command=f"echo {SUBMIT}"),)


def next_turn(turns: Sequence[Turn], conversation: Conversation) -> Turn:
    """The turn that comes next, the last one where all are done."""
    results, complaints = conversation.tool_results, conversation.heard.count(COMPLAINT)
    for turn in turns:
        right = tuple(action for action in turn.actions if not isinstance(action, RawCall))
        if turn.actions and not right:
            if not complaints:
                return turn
            complaints -= 1
            continue
        if not right or turn.forever or results < len(right):
            return turn.model_copy(update={"actions": right})
        results -= len(right)
    return turns[-1]
