"""Patching: changes to the text of a unified diff that leave it one that applies."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

START = "diff --git "
HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(?:,(\d+))? @@(.*)")


def sections(patch: str) -> list[str]:
    """The parts of a patch, one for each file."""
    parts = re.split(rf"(?m)^(?={re.escape(START)})", patch)
    return [part for part in parts if part.startswith(START)]


def path_of(section: str) -> str:
    """The file that a section is about, as it is named after the change."""
    return section.partition("\n")[0].rpartition(" b/")[2]


def without(patch: str, leaves_out: Callable[[str], bool]) -> str:
    """``patch`` without the files that ``leaves_out`` says yes to."""
    return "".join(part for part in sections(patch) if not leaves_out(path_of(part)))


def new_file(path: str, text: str) -> str:
    """The section that adds a file."""
    lines = _lines(text)
    head = f"{START}a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def deleted_file(path: str, text: str) -> str:
    """The section that removes a file of that content."""
    lines = _lines(text)
    head = f"{START}a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n"
    return head + f"@@ -1,{len(lines)} +0,0 @@\n" + "".join(f"-{line}\n" for line in lines)


def with_lines(patch: str, lines: Sequence[str]) -> str:
    """``patch`` with more added lines below the first line that it adds to a program.

    Raises:
        ValueError: it adds no line to any program.
    """
    parts = sections(patch)
    for place, part in enumerate(parts):
        if path_of(part).endswith(".py") and re.search(r"(?m)^\+(?!\+\+)", part):
            parts[place] = _grown(part, lines)
            return "".join(parts)
    raise ValueError("the patch adds no line to a program")


def _grown(section: str, lines: Sequence[str]) -> str:
    grown: list[str] = []
    head: int | None = None
    done = False
    for line in section.splitlines():
        found = HUNK.fullmatch(line)
        if found and done:
            start = int(found[3]) + len(lines)
            count = "" if found[4] is None else f",{found[4]}"
            line = f"@@ -{found[1]}{found[2] or ''} +{start}{count} @@{found[5]}"
        elif found:
            head = len(grown)
        grown.append(line)
        if head is not None and not done and line.startswith("+"):
            indent = re.match(r"\+([ \t]*)", line)
            space = indent[1] if indent else ""
            grown += [f"+{space}{each}".rstrip() for each in lines]
            first = HUNK.fullmatch(grown[head])
            if first is not None:
                count = f",{int(first[4] or 1) + len(lines)}"
                grown[head] = f"@@ -{first[1]}{first[2] or ''} +{first[3]}{count} @@{first[5]}"
            done = True
    return "\n".join(grown) + "\n"


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")
