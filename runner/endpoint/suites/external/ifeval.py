"""IfEval: prompts with instructions that a program can verify, from a file of JSON lines.

The types and their arguments are those of the published data set; the rules are our own. Reference: Zhou et
al., Instruction-Following Evaluation for Large Language Models, 2023.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from runner.endpoint.suites.case import Case, Kind, Puzzle, question
from runner.endpoint.suites.external import ifeval_form as form
from runner.endpoint.suites.external import ifeval_text as text_rules
from runner.endpoint.suites.external.contract import ExternalLoad, ExternalOptions
from runner.endpoint.suites.external.ifeval_text import Arguments, Unusable
from runner.endpoint.suites.external.spoken import LIBRARY, Detector, installed_detector
from runner.endpoint.suites.extraction import spoken
from runner.endpoint.suites.score import CaseScore, Verdict
from runner.errors import ConfigurationError
from runner.records.plain_words import plain_faults

MAX_BYTES = 200_000_000
NONCE = re.compile(r"\A\s*\[[0-9a-f]{16}\]\s*")
"""What the runner puts before a prompt; who is asked to repeat the prompt may repeat it too."""
Rule = Callable[[str, Arguments], bool]

RULES: Mapping[str, Rule] = {
    "keywords:existence": text_rules.has_keywords,
    "keywords:frequency": text_rules.keyword_frequency,
    "keywords:forbidden_words": text_rules.has_no_forbidden_words,
    "keywords:letter_frequency": text_rules.letter_frequency,
    "length_constraints:number_sentences": text_rules.sentence_count,
    "length_constraints:number_paragraphs": text_rules.paragraph_count,
    "length_constraints:number_words": text_rules.word_count,
    "length_constraints:nth_paragraph_first_word": text_rules.paragraph_first_word,
    "detectable_content:number_placeholders": form.placeholder_count,
    "detectable_content:postscript": form.postscript,
    "detectable_format:number_bullet_lists": form.bullet_count,
    "detectable_format:constrained_response": form.one_of_the_choices,
    "detectable_format:number_highlighted_sections": form.highlight_count,
    "detectable_format:multiple_sections": form.section_count,
    "detectable_format:json_format": form.is_json,
    "detectable_format:title": form.title,
    "combination:two_responses": form.two_responses,
    "combination:repeat_prompt": form.repeats_prompt,
    "startend:end_checker": form.end_phrase,
    "startend:quotation": form.quoted,
    "change_case:capital_word_frequency": text_rules.capital_words,
    "punctuation:no_comma": text_rules.no_comma,
}
SPOKEN_RULES: Mapping[str, Callable[[str, Arguments, Detector], bool]] = {
    "language:response_language": text_rules.in_language,
    "change_case:english_capital": lambda text, _, detector: text_rules.english_capital(text, detector),
    "change_case:english_lowercase": lambda text, _, detector: text_rules.english_lowercase(text, detector),
}
"""Those that must know which language a text is in."""


class Entry(BaseModel):
    """One line of the file; keys that are not named here are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    key: int | Annotated[str, Field(min_length=1, max_length=80)]
    prompt: Annotated[str, Field(min_length=1)]
    instruction_id_list: Annotated[list[str], Field(min_length=1)]
    kwargs: list[dict[str, JsonValue]]

    @model_validator(mode="after")
    def _as_many_arguments(self) -> Entry:
        if len(self.kwargs) != len(self.instruction_id_list):
            raise ValueError("instruction_id_list and kwargs differ in length")
        return self


def rule_of(identifier: str, detector: Detector | None) -> Rule | None:
    """The rule of an instruction; None where there is none, or none without a detector of languages."""
    if identifier in RULES:
        return RULES[identifier]
    spoken_rule = SPOKEN_RULES.get(identifier)
    if spoken_rule is None or detector is None:
        return None
    return lambda text, arguments: spoken_rule(text, arguments, detector)


def variants(text: str) -> tuple[str, ...]:
    """What the loose mode accepts: without the first line, the last line, both, and each without stars."""
    lines = text.split("\n")
    plain = [text, "\n".join(lines[1:]), "\n".join(lines[:-1]), "\n".join(lines[1:-1])]
    tidy = [each.strip() for each in plain]
    return tuple(dict.fromkeys([text, *tidy, *(each.replace("*", "") for each in tidy)]))


def followed(text: str, rule: Rule, arguments: Arguments, *, loose: bool) -> bool:
    """Whether an instruction is followed; an empty text follows none."""
    candidates = variants(text) if loose else (text,)
    return any(rule(each, arguments) for each in candidates if each.strip())


@dataclass(frozen=True)
class IfEval:
    """The suite ``ifeval``.

    Args:
        detector: tells the language of a text; None where nothing can.
    """

    name: str = "ifeval"
    title: str = "IFEval"
    detector: Detector | None = field(default_factory=installed_detector)

    def load(self, options: ExternalOptions) -> ExternalLoad:
        """The cases of the file.

        Raises:
            ConfigurationError: it cannot be read, or a line is not what it should be.
        """
        cases: list[Case] = []
        left_out: list[str] = []
        for number, entry in _entries(options.data):
            why = self._unsupported(entry)
            if not why:
                cases.append(self._case(entry, options))
            elif options.unsupported == "skip":
                left_out.append(f"{entry.key}: {why}")
            else:
                raise ConfigurationError(
                    f"a prompt cannot be checked: {why}", where=f"{options.data}, line {number}"
                )
        end = None if options.limit is None else options.offset + options.limit
        return ExternalLoad(tuple(cases[options.offset : end]), tuple(left_out))

    def _unsupported(self, entry: Entry) -> str:
        for identifier, arguments in zip(entry.instruction_id_list, entry.kwargs, strict=True):
            # What a language is does not matter here: only whether the arguments can be used.
            rule = rule_of(identifier, None if self.detector is None else lambda _text: "")
            if rule is None:
                more = f" without the package {LIBRARY}" if identifier in SPOKEN_RULES else ""
                return f"there is no rule for {identifier[:80]}{more}"
            try:
                rule("", arguments)
            except Unusable as fault:
                return f"{identifier} {fault}"
        return ""

    def _case(self, entry: Entry, options: ExternalOptions) -> Case:
        parts = [
            (identifier, rule, arguments)
            for identifier, arguments in zip(entry.instruction_id_list, entry.kwargs, strict=True)
            if (rule := rule_of(identifier, self.detector)) is not None
        ]
        loose = options.mode == "loose"

        def score(text: str) -> CaseScore:
            """Which of the instructions an answer follows; passed when it follows all."""
            said = NONCE.sub("", spoken(text))
            kept = [followed(said, rule, arguments, loose=loose) for _, rule, arguments in parts]
            answer = "".join("1" if each else "0" for each in kept)
            metrics = {"instructions_passed": float(sum(kept)), "instructions_total": float(len(kept))}
            broken = [identifier for (identifier, _, _), held in zip(parts, kept, strict=True) if not held]
            verdict = Verdict.FAILED if broken else Verdict.PASSED
            reason = f"not followed: {', '.join(broken)}" if broken else ""
            share = sum(kept) / len(kept)
            return CaseScore(verdict, share, reason, answer, "1" * len(kept), metrics=metrics)

        def make(_seed: int) -> Puzzle:
            """The entry's prompt; it is the same for every seed."""
            return question(entry.prompt, score, "1" * len(parts))

        return Case(
            identifier=f"ifeval-{entry.key}",
            title=f"IFEval {entry.key}",
            kind=Kind.QUALITY,
            category="ifeval",
            dimension="instruction-following",
            difficulty="hard" if len(parts) > 1 else "medium",
            description=", ".join(identifier for identifier, _, _ in parts),
            make=make,
            max_output_tokens=options.max_output_tokens,
        )


def _entries(path: Path) -> list[tuple[int, Entry]]:
    """The lines of the file, numbered from 1.

    Raises:
        ConfigurationError: names the first line that is not what it should be.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigurationError("the file of prompts is far too large", where=str(path))
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"the file of prompts cannot be read: {error.strerror}", where=str(path), remedy="check the path"
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError(
            "the file of prompts is not UTF-8 text", where=str(path), remedy="save the file as UTF-8"
        ) from None
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append((number, Entry.model_validate(json.loads(line))))
        except ValidationError as error:
            fault = plain_faults(error, whole="the line")[0]
            raise ConfigurationError(fault, where=f"{path}, line {number}") from None
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"no JSON: {error}", where=f"{path}, line {number}") from None
    return found
