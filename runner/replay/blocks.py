"""Blocks: a scene said as text, to an agent that offers no tools and asks for blocks of text to replace.

Such an agent does everything that one answer says at once: so the turns of a scene are said together, with
the sum of their tokens. What is no change of a file cannot be said. An agent that has not shown the files yet
is asked for them first, by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import takewhile

from runner.replay.conversation import Conversation
from runner.replay.turns import Edit, Tokens, Turn, Write

ASKED_FOR = "SEARCH/REPLACE"
ASKING = "Before I change anything I have to see:"


def wants_blocks(conversation: Conversation) -> bool:
    """Whether changes of files have to be said in the text of the answer."""
    return not conversation.tools and ASKED_FOR in conversation.heard


def said_at_once(turns: Sequence[Turn], conversation: Conversation) -> Turn:
    """The turns of a scene as the one turn that comes next in this conversation."""
    looks = tuple(takewhile(lambda turn: not any(_changes(turn)), turns))
    unseen = [
        change.path
        for turn in turns
        for change in _changes(turn)
        if isinstance(change, Edit) and shown_content(change.path, conversation.heard) is None
    ]
    if looks and unseen and not conversation.answers:
        names = "\n".join(dict.fromkeys(unseen))
        return _together(looks, f"{_says(looks)}\n\n{ASKING}\n{names}\n")
    rest = turns[len(looks) :] if looks and conversation.answers else turns
    contents: dict[str, str | None] = {}
    parts = [part for turn in rest for part in (turn.say, *_blocks(turn, conversation.heard, contents))]
    return _together(rest, "\n\n".join(filter(None, parts)))


def shown_content(path: str, heard: str) -> str | None:
    """The content of a file as the agent showed it last, fenced below its name; None where it did not."""
    fenced = re.compile(
        rf"^{re.escape(path)}\n(`{{3,}}|<\w+>)\n(.*?)^(?:\1|</\w+>)$", re.MULTILINE | re.DOTALL
    )
    shown = [match[2] for match in fenced.finditer(heard)]
    return shown[-1] if shown else None


def _changes(turn: Turn) -> Iterator[Edit | Write]:
    for action in turn.actions:
        if isinstance(action, Write) or (isinstance(action, Edit) and action.mistake is None):
            yield action


def _blocks(turn: Turn, heard: str, contents: dict[str, str | None]) -> Iterator[str]:
    """The changes of a turn; ``contents`` is what the files hold by then, as far as that is known."""
    for change in _changes(turn):
        path = change.path
        before = contents.setdefault(path, shown_content(path, heard))
        if isinstance(change, Write):
            if before != change.content:
                yield _block(path, before or "", change.content)
            contents[path] = change.content
        elif before is None:
            yield _block(path, change.old, change.new)
        elif change.old in before:
            old, new = _whole_lines(before, change)
            yield _block(path, old, new)
            contents[path] = before.replace(change.old, change.new, 1)
        elif change.new not in before:
            yield _block(path, change.old, change.new)


def _whole_lines(content: str, change: Edit) -> tuple[str, str]:
    """An edit of whole lines that does the same: the language knows no parts of a line."""
    start = content.index(change.old)
    end = start + len(change.old)
    first = content.rfind("\n", 0, start) + 1
    last = end if content[end - 1] == "\n" else content.find("\n", end) + 1 or len(content)
    return content[first:last], content[first:start] + change.new + content[end:last]


def _block(path: str, old: str, new: str) -> str:
    return f"{path}\n```\n<<<<<<< SEARCH\n{_lines(old)}=======\n{_lines(new)}>>>>>>> REPLACE\n```"


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _together(turns: Sequence[Turn], say: str) -> Turn:
    tokens = reduce(Tokens.__add__, (turn.usage for turn in turns))
    return turns[0].model_copy(update={"say": say, "actions": (), "forever": False, "usage": tokens})


def _says(turns: Sequence[Turn]) -> str:
    return "\n\n".join(turn.say for turn in turns if turn.say)
