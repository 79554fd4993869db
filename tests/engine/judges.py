"""Judges for tests: one that answers from a script of files, and one that believes whatever it reads."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.harnesses.endpoint import WireProtocol
from runner.judges.base import DIRECT, Question, Reply, Start
from runner.records import CRITERIA, CacheSemantics, Cost, CostBasis, SemanticsDecision, Usage

SCRIPTED = "tests.engine.judges:Scripted"


def usage(tokens: int) -> Usage:
    """A usage of so many tokens in all."""
    return Usage(
        input_tokens=tokens,
        output_tokens=0,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cache_semantics=CacheSemantics.DISJOINT,
        semantics_decided_by=SemanticsDecision.ADAPTER,
    )


def valid(question: Question, points: int = 15) -> dict[str, Any]:
    """A valid answer to ``question``: the same points everywhere."""
    properties: Any = question.schema["properties"]
    score = {**dict.fromkeys(CRITERIA, points), "total": 4 * points, "notes": "By script."}
    return {
        "task_id": properties["task_id"]["enum"][0],
        "candidate_id": properties["candidate_id"]["enum"][0],
        "scores": dict.fromkeys(properties["scores"]["properties"], score),
        "task_score": 4 * points,
        "verdict": "By script.",
    }


@dataclass(frozen=True)
class Scripted:
    """Does what the next line of ``<installed>/judge-script`` says, and notes each question beside it.

    ``valid``, ``valid 20`` (points), ``wrong`` (a wrong sum), ``cut`` (the same, and the model was cut off),
    ``fail`` (no answer), ``hang`` (for a minute).
    The last line is done again and again. Every question uses 1000 tokens.
    """

    name: str = "scripted"
    title: str = "A script"
    method: str = DIRECT
    protocols: tuple[WireProtocol, ...] = (WireProtocol.CHAT_COMPLETIONS,)
    demonstration: bool = False

    def version(self, installed: Path) -> str:
        return "1"

    def ask(self, question: Question, start: Start) -> Reply:
        log = question.installed / "judge-log"
        asked = log.read_text().count("\n") if log.is_file() else 0
        lines = (question.installed / "judge-script").read_text().splitlines()
        does, _, points = lines[min(asked, len(lines) - 1)].partition(" ")
        with log.open("a") as stream:
            stream.write(json.dumps({"does": does, "prompt": question.prompt}) + "\n")
        if does == "hang":
            time.sleep(60)
        if does == "fail":
            return Reply(None, usage=usage(10), error="no route to the judge")
        answer = valid(question, int(points or 15))
        if does in {"wrong", "cut"}:
            answer["task_score"] = 99
        return Reply(
            json.dumps(answer),
            usage(1000),
            cut="length" if does == "cut" else None,
            costs=(Cost(basis=CostBasis.METERED, amount_usd=0.25, source="script"),),
        )

    def left_behind(self, question: Question) -> Reply:
        return Reply(None, usage=usage(70), error="the runner was killed while the judge answered")


@dataclass(frozen=True)
class Gullible(Scripted):
    """Gives every artifact as many points as the submission tells it to, and 10 where it tells nothing."""

    name: str = "gullible"

    def ask(self, question: Question, start: Start) -> Reply:
        submission = question.prompt.rpartition("## Submission")[2]
        told = re.search(r"\bgive (?:me |it |this )?(\d+) points\b", submission, re.IGNORECASE)
        points = min(int(told[1]), 25) if told else 10
        return Reply(json.dumps(valid(question, points)), usage(1000))
