"""Brief: all that a judge is shown of a trial, and the digest of each part of it."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from runner.datasets import Task
from runner.judges.answer import answer_schema
from runner.judges.blinding import Blinded, blind_patch, blind_prose
from runner.judges.fencing import Fence, fence_for, new_nonce, shown, visible
from runner.judges.rubric import Rubric
from runner.records import CRITERIA, SeenPart, sha256_of

PATCH_CHARACTERS = 200_000
DOCUMENT_CHARACTERS = 100_000
OLD_ANSWER_CHARACTERS = 20_000
NO_NOTES = "None were written for this task."
READABLE = "Its files, as they were before the work began, are in your working directory, read-only."
NOT_READABLE = "You cannot read its files here. Say so where a score depends on them."
AGAIN = """

# Your last answer was not valid

It does not count, because:

{faults}

Answer again, with the whole JSON object. Judge anew only where a fault demands it. Your last answer was:

{answer}
"""


@dataclass(frozen=True)
class Case:
    """A trial as far as a judge may know it, and the names that must be kept from the judge."""

    task: Task
    files: Mapping[str, bytes]
    """What was handed in, by the names of the skill's contract."""
    model_names: tuple[str, ...] = field(default=(), repr=False)
    agent_names: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Sealing:
    """What is drawn by chance for one judgement. With the same one, a brief is the same to the letter."""

    candidate: str
    nonce: str


@dataclass(frozen=True)
class Brief:
    """A question to a judge, and what to hold its answer against."""

    prompt: str
    schema: Mapping[str, object]
    rubric: Rubric
    task_id: str
    sealing: Sealing
    asked: tuple[str, ...]
    missing: tuple[str, ...]
    seen: tuple[SeenPart, ...]

    def again(self, answer: str, faults: Sequence[str]) -> str:
        """The prompt that asks once more: the whole question, the last answer and its faults."""
        seen, _ = shown(answer, OLD_ANSWER_CHARACTERS)
        fence = fence_for([seen, self.prompt])
        listed = "\n".join(f"- {fault}" for fault in faults)
        return self.prompt + AGAIN.format(faults=listed, answer=fence.around("answer", seen))


def draw(case: Case, nonce: Callable[[], str] = new_nonce) -> Sealing:
    """A blind name for the candidate, and a word for the marks that no file of the case contains."""
    texts = [data.decode("utf-8", "replace") for data in case.files.values()]
    return Sealing(f"candidate-{secrets.token_hex(4)}", fence_for(texts, nonce).nonce)


def make_brief(case: Case, rubric: Rubric, sealing: Sealing, *, workspace: str | None) -> Brief:
    """The question about ``case``. Model, harness and cost are no part of it.

    Args:
        case: what was handed in, and for which task.
        rubric: decides which files are shown.
        sealing: of :func:`draw`.
        workspace: folder in which the judge can read the repository; None where it cannot.
    """
    asked, missing = rubric.parts(case.files)
    fence = Fence(sealing.nonce)
    parts = [_part("problem", _problem(case.task)), _part("reviewer-notes", _notes(case.task))]
    parts.append(_part("repository", _repository(case.task, readable=workspace is not None)))
    problem, notes, repository = (text for text, _ in parts)
    files = [_shown(name, case) for artifact in asked for name in artifact.files]
    values = {
        "candidate": sealing.candidate,
        "task": case.task.id,
        "rubric": rubric.identity + (f"\nworkspace: {workspace}" if workspace else ""),
        "problem": fence.around("problem", problem),
        "notes": fence.around("reviewer-notes", notes),
        "repository": repository,
        "criteria": _criteria(rubric),
        "artifacts": "\n\n".join(
            f"- `{each.name}` ({each.title}; {', '.join(each.files)}): {each.expects.strip()}"
            for each in asked
        ),
        "submission": "\n\n".join(fence.around(part.name, text) for text, part in files),
    }
    # One pass over the template, so that marks inside a text stay as they are.
    prompt = re.sub(r"\{\{(\w+)\}\}", lambda mark: values.get(mark[1], mark[0]), rubric.instructions)
    names = tuple(each.name for each in asked)
    return Brief(
        prompt=prompt,
        schema=answer_schema(names, task=case.task.id, candidate=sealing.candidate),
        rubric=rubric,
        task_id=case.task.id,
        sealing=sealing,
        asked=names,
        missing=missing,
        seen=tuple(part for _, part in (*parts, *files)),
    )


def _part(
    name: str, text: str, cut_characters: int = 0, removed: tuple[str, ...] = ()
) -> tuple[str, SeenPart]:
    return text, SeenPart(
        name=name,
        sha256=sha256_of(text.encode()),
        characters=len(text),
        cut_characters=cut_characters,
        removed=removed,
    )


def _problem(task: Task) -> str:
    text = (task.problem_statement or "").strip()
    if not text:
        text = f"Only an address was given: {task.problem_issue_url}"
    if task.clarifying_answers:
        text += f"\n\nAnswers to questions, given in advance:\n{task.clarifying_answers.strip()}"
    return visible(text)


def _notes(task: Task) -> str:
    truth = task.ground_truth
    lines = [truth.approach.strip()] if truth and truth.approach else []
    lines += [f"- {each.strip()}" for each in (truth.expectations if truth else ())]
    return visible("\n".join(lines)) or NO_NOTES


def _repository(task: Task, *, readable: bool) -> str:
    facts = {
        "repository": task.repository_name,
        "ref": task.ref,
        "complexity": task.complexity,
        "tags": list(task.tags),
    }
    return f"{json.dumps(facts, ensure_ascii=True)}\n\n{READABLE if readable else NOT_READABLE}"


def _criteria(rubric: Rubric) -> str:
    lines = [f"- `{name}`: {rubric.criteria[name]}" for name in CRITERIA]
    return "\n".join([*lines, "", "The scale of each: " + "; ".join(rubric.anchors) + "."])


def _shown(name: str, case: Case) -> tuple[str, SeenPart]:
    """A file as the judge sees it: blinded, nothing hidden, cut where it is too long."""
    data = case.files.get(name)
    if data is None:
        text = "[this file was not handed in]"
        return text, SeenPart(name=name, sha256=None, characters=0)
    is_patch = name.endswith(".diff")
    text = data.decode("utf-8", "replace")
    known = (case.task.problem_statement or "").casefold()
    models = [each for each in case.model_names if each.casefold() not in known]
    agents = [each for each in case.agent_names if each.casefold() not in known]
    blinded: Blinded = blind_patch(text, models) if is_patch else blind_prose(text, [*models, *agents])
    limit = PATCH_CHARACTERS if is_patch else DOCUMENT_CHARACTERS
    seen, left_out = shown(blinded.text, limit)
    return _part(name, seen, left_out, blinded.removed)
