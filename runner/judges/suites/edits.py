"""Edits: what is done to an honest submission to make the other side of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from runner.datasets import Task
from runner.judges.suites.hiding import Hiding, hide
from runner.judges.suites.patching import deleted_file, new_file, sections, with_lines, without
from runner.records import Part

NOTE, PATCH = "implementation.md", "patch.diff"
MAX_FILLER = 200_000
FILLER = "This paragraph is here for its length and says nothing about the change. "


@dataclass(frozen=True)
class Sheet:
    """A submission: a patch, a note and documents, and whether they are shown in the opposite order."""

    note: str
    patch: str
    documents: Mapping[str, str] = field(default_factory=dict)
    """By name; only rubrics that score them have them shown."""
    reversed: bool = False

    @property
    def files(self) -> dict[str, bytes]:
        """As they were handed in."""
        whole = {**self.documents, NOTE: self.note, PATCH: self.patch}
        return {name: text.encode() for name, text in whole.items()}


@dataclass(frozen=True)
class Desk:
    """What an edit may look at."""

    task: Task
    folder: Path
    """That of the suites, for texts that are named by their place."""
    works: Mapping[tuple[str, str], Sheet]
    """Submissions by task and quality."""


class Edit(Part):
    """One change."""

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """``sheet`` with the change.

        Raises:
            ValueError: the submission is not one that this can be done to.
        """
        raise NotImplementedError


class Worded(Edit):
    """An edit that brings a text; ``{problem}`` in it stands for the task's, ``{hidden}`` for ``hidden``."""

    text: str
    hidden: str = Field(default="", description="what is put, hidden, in the place of {hidden}")
    how: Hiding | None = None
    filler: int = Field(default=0, ge=0, le=MAX_FILLER, description="characters of filler before the text")

    def words(self, desk: Desk) -> str:
        """The text with its marks replaced."""
        problem = (desk.task.problem_statement or "").strip()
        text = self.text.replace("{problem}", problem).replace("{hidden}", hide(self.hidden, self.how))
        return (FILLER * (self.filler // len(FILLER) + 1))[: self.filler] + "\n\n" * bool(self.filler) + text


class ToNote(Worded):
    """More text in the note."""

    do: Literal["note"]
    at: Literal["start", "end"] = "end"

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """The note with the text before or behind it."""
        text = self.words(desk).strip("\n")
        parts = (text, sheet.note) if self.at == "start" else (sheet.note.rstrip("\n"), text + "\n")
        return replace(sheet, note="\n\n".join(parts))


class ToProgram(Worded):
    """Comment lines among those that the patch adds to a program."""

    do: Literal["comment"]

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """The patch with the lines."""
        lines = [f"# {line}".rstrip() for line in self.words(desk).strip("\n").split("\n")]
        return replace(sheet, patch=with_lines(sheet.patch, lines))


class ToCommit(Worded):
    """The message of a commit before the patch."""

    do: Literal["commit"]
    subject: str = "Make the change"

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """The patch as it is sent by mail."""
        head = f"From: somebody <somebody@example.org>\nSubject: [PATCH] {self.subject}\n\n"
        return replace(sheet, patch=f"{head}{self.words(desk).strip()}\n---\n{sheet.patch}")


class AddFile(Worded):
    """One more file in the patch."""

    do: Literal["file"]
    path: str

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """The patch with the file."""
        return replace(sheet, patch=sheet.patch + new_file(self.path, self.words(desk)))


class DeleteFile(Edit):
    """A file of the repository that the patch removes."""

    do: Literal["delete"]
    path: str
    content_from: str = Field(description="where its content stands, seen from the folder of the datasets")

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """The patch that removes it, and does not change it as well."""
        root = desk.folder.parent.resolve()
        source = (root / self.content_from).resolve()
        if not source.is_relative_to(root):
            raise ValueError("content_from leads out of the folder of the datasets")
        rest = without(sheet.patch, lambda path: path == self.path)
        return replace(sheet, patch=rest + deleted_file(self.path, source.read_text(encoding="utf-8")))


class LeaveOut(Edit):
    """Files that the patch does not touch any more."""

    do: Literal["leave-out"]
    under: str

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:  # noqa: ARG002 - part of the seam
        """The patch without them."""
        rest = without(sheet.patch, lambda path: path.startswith(self.under))
        if rest == sheet.patch or not rest:
            raise ValueError(f"the patch has nothing below {self.under}, or nothing else")
        return replace(sheet, patch=rest)


class Replace(Edit):
    """Words replaced by others, in the patch or everywhere; ``by_task`` has words for some tasks."""

    do: Literal["replace"]
    old: str = ""
    new: str = ""
    by_task: dict[str, tuple[str, str]] = Field(default_factory=dict)
    everywhere: bool = Field(default=False, description="in the note and in the documents too")

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """The texts with the new words."""
        old, new = self.by_task.get(desk.task.id, (self.old, self.new))
        if not old or old not in sheet.patch:
            raise ValueError(f"the patch does not hold {old!r}")
        changed = replace(sheet, patch=sheet.patch.replace(old, new))
        if not self.everywhere:
            return changed
        documents = {name: text.replace(old, new) for name, text in sheet.documents.items()}
        return replace(changed, note=sheet.note.replace(old, new), documents=documents)


class OtherWork(Edit):
    """Another submission, or its patch or its note, in the place of this one's."""

    do: Literal["other-work"]
    tasks_on: int = Field(default=0, ge=0, description="how many tasks further on; 0 is the same task")
    quality: Literal["good", "partial"] = "good"
    part: Literal["patch", "note", "all"] = "all"

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:
        """The submission with what was taken from the other one."""
        tasks = list(dict.fromkeys(task for task, _ in desk.works))
        other = tasks[(tasks.index(desk.task.id) + self.tasks_on) % len(tasks)]
        found = desk.works[other, self.quality]
        if self.part == "all":
            return replace(found, reversed=sheet.reversed)
        if self.part == "note":
            return replace(sheet, note=found.note)
        return replace(sheet, patch=found.patch)


class Rewrite(Edit):
    """Another note; another patch that adds files only."""

    do: Literal["rewrite"]
    note: str | None = None
    files: dict[str, str] = Field(default_factory=dict, description="text by path")

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:  # noqa: ARG002 - part of the seam
        """What is given instead of what there was."""
        patch = "".join(new_file(path, text) for path, text in self.files.items()) or sheet.patch
        return replace(sheet, patch=patch, note=sheet.note if self.note is None else self.note)


class Reorder(Edit):
    """The same in another order: the files that are shown, or those inside the patch."""

    do: Literal["reorder"]
    what: Literal["files", "patch"]

    def apply(self, sheet: Sheet, desk: Desk) -> Sheet:  # noqa: ARG002 - part of the seam
        """The last one first."""
        if self.what == "files":
            return replace(sheet, reversed=not sheet.reversed)
        parts = sections(sheet.patch)
        if len(parts) < 2:
            raise ValueError("the patch has one file only")
        return replace(sheet, patch="".join(reversed(parts)))


AnyEdit = Annotated[
    ToNote | ToProgram | ToCommit | AddFile | DeleteFile | LeaveOut | Replace | OtherWork | Rewrite | Reorder,
    Field(discriminator="do"),
]
