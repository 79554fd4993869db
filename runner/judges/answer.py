"""Answer: the schema a judge must follow, and the strict reading of what it answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.judges.rubric import mean_of_totals
from runner.records import CRITERIA, ArtifactScore
from runner.records.judgement import MAX_NOTE, SCORE_TOLERANCE

SCHEMA_NAME = "judgement"
HIGHEST, HIGHEST_TOTAL = 25, 100
MAX_ANSWER = 400_000
MAX_FAULTS = 12
ROUNDING = 1e-9
"""What binary numbers may lose of a thousandth."""
CODE_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
SCORE_KEYS = (*CRITERIA, "total", "notes")
ANSWER_KEYS = ("task_id", "candidate_id", "scores", "task_score", "verdict")


@dataclass(frozen=True)
class Scores:
    """A valid answer."""

    scores: Mapping[str, ArtifactScore]
    notes: Mapping[str, str]
    verdict: str

    @property
    def task_score(self) -> float:
        """Mean of the totals, computed anew."""
        return mean_of_totals([score.total for score in self.scores.values()])


class InvalidAnswer(Exception):
    """An answer that does not count; ``faults`` says why, one sentence each, as the judge is told."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults[:MAX_FAULTS])
        super().__init__("; ".join(self.faults))


def answer_schema(artifacts: Sequence[str], *, task: str, candidate: str) -> dict[str, object]:
    """JSON Schema of a valid answer, in the subset that strict servers take."""
    points = {"type": "integer", "minimum": 0, "maximum": HIGHEST}
    score = _object(
        {
            **dict.fromkeys(CRITERIA, points),
            "total": {"type": "integer", "minimum": 0, "maximum": HIGHEST_TOTAL},
            "notes": {"type": "string"},
        }
    )
    return _object(
        {
            "task_id": {"type": "string", "enum": [task]},
            "candidate_id": {"type": "string", "enum": [candidate]},
            "scores": _object(dict.fromkeys(artifacts, score)),
            "task_score": {"type": "number", "minimum": 0, "maximum": HIGHEST_TOTAL},
            "verdict": {"type": "string"},
        }
    )


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_answer(text: str, artifacts: Sequence[str], *, task: str, candidate: str) -> Scores:
    """The scores in ``text``: one JSON object, at most inside one code fence, true to the last sum.

    Raises:
        InvalidAnswer: it is anything else; every fault that can be told is named.
    """
    document = _document(text)
    faults = _keys(document, ANSWER_KEYS, "the answer")
    for key, wanted in (("task_id", task), ("candidate_id", candidate)):
        if key in document and document[key] != wanted:
            faults.append(f"{key} must be {wanted!r}")
    scores, notes = _scores(document["scores"], artifacts, faults) if "scores" in document else ({}, {})
    if "task_score" in document:
        _check_mean(document["task_score"], scores, len(artifacts), faults)
    verdict = _text(document.get("verdict"), "verdict", faults) if "verdict" in document else ""
    if faults:
        raise InvalidAnswer(faults)
    return Scores({name: ArtifactScore(**score) for name, score in scores.items()}, notes, verdict)


def _document(text: str) -> dict[str, object]:
    stripped = text.strip().removeprefix("\ufeff")
    if not stripped:
        raise InvalidAnswer(["the answer is empty"])
    if len(stripped) > MAX_ANSWER:
        raise InvalidAnswer([f"the answer is longer than {MAX_ANSWER} characters"])
    fenced = CODE_FENCE.fullmatch(stripped)
    try:
        document = json.loads(
            fenced[1] if fenced else stripped,
            object_pairs_hook=_once,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise InvalidAnswer(["the answer is nested too deeply"]) from None
    except ValueError as error:
        raise InvalidAnswer(
            [f"the answer is not one JSON object and nothing else: {_brief(str(error))}"]
        ) from None
    if not isinstance(document, dict):
        raise InvalidAnswer(["the answer is JSON, but no object"])
    return document


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"key {_brief(name)!r} is given twice")
    return dict(pairs)


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _keys(found: Mapping[str, object], wanted: Sequence[str], what: str) -> list[str]:
    faults = [f"{what} lacks {name!r}" for name in wanted if name not in found]
    return faults + [f"{what} has an unknown key {_brief(name)!r}" for name in found if name not in wanted]


def _scores(
    found: object, artifacts: Sequence[str], faults: list[str]
) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """Points and notes by artifact, as far as they are in order; what is not goes to ``faults``."""
    scores: dict[str, dict[str, int]] = {}
    notes: dict[str, str] = {}
    if not isinstance(found, dict):
        faults.append("scores is no object")
        return scores, notes
    faults += _keys(found, artifacts, "scores")
    for name in artifacts:
        entry = found.get(name)
        if name not in found:
            continue
        if not isinstance(entry, dict):
            faults.append(f"scores.{name} is no object")
            continue
        faults += _keys(entry, SCORE_KEYS, f"scores.{name}")
        points = _points(name, entry, faults)
        if points is not None:
            scores[name] = points
        if "notes" in entry:
            notes[name] = _text(entry["notes"], f"scores.{name}.notes", faults)
    return scores, notes


def _points(name: str, entry: Mapping[str, object], faults: list[str]) -> dict[str, int] | None:
    points: dict[str, int] = {}
    for key in (*CRITERIA, "total"):
        value, most = entry.get(key), HIGHEST_TOTAL if key == "total" else HIGHEST
        if key not in entry:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            faults.append(
                f"scores.{name}.{key} is {_brief(json.dumps(value))}, not a whole number from 0 to {most}"
            )
        else:
            points[key] = value
    if len(points) != len(CRITERIA) + 1:
        return None
    total = sum(points[key] for key in CRITERIA)
    if total != points["total"]:
        faults.append(f"scores.{name}.total is {points['total']}, its criteria add up to {total}")
        return None
    return points


def _check_mean(
    claimed: object, scores: Mapping[str, Mapping[str, int]], wanted: int, faults: list[str]
) -> None:
    if isinstance(claimed, bool) or not isinstance(claimed, int | float):
        faults.append(f"task_score is {_brief(json.dumps(claimed))}, not a number")
    elif len(scores) == wanted:
        mean = mean_of_totals([score["total"] for score in scores.values()])
        if abs(claimed - mean) > SCORE_TOLERANCE + ROUNDING and claimed != round(mean, 2):
            faults.append(f"task_score is {claimed}, the mean of the totals is {round(mean, 2)}")


def _text(value: object, where: str, faults: list[str]) -> str:
    if not isinstance(value, str):
        faults.append(f"{where} is no text")
        return ""
    if not value.strip():
        faults.append(f"{where} is empty")
    elif len(value) > MAX_NOTE:
        faults.append(f"{where} is longer than {MAX_NOTE} characters")
    return value


def _brief(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."
