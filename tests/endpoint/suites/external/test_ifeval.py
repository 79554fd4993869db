"""IFEval from a file: loading, what is left out and why, scoring; and the contract for other suites."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from runner.endpoint.suites.case import Case, Slot
from runner.endpoint.suites.external.contract import (
    EXTERNAL_SUITES,
    ExternalLoad,
    ExternalOptions,
    external_suite,
    load_external,
)
from runner.endpoint.suites.external.ifeval import IfEval
from runner.endpoint.suites.grounding import KNOWN
from runner.endpoint.suites.playing import play
from runner.endpoint.suites.score import CaseScore, Verdict
from runner.errors import ConfigurationError, UsageError
from tests.endpoint.suites.stage import MANNER, Script, said, target

FOUR = {
    "key": 12,
    "prompt": "Write about a lamp.",
    "instruction_id_list": [
        "keywords:existence",
        "detectable_content:number_placeholders",
        "startend:quotation",
        "punctuation:no_comma",
    ],
    "kwargs": [{"keywords": ["lamp"]}, {"num_placeholders": 1}, {}, {}],
}


def line(key: int | str, *names: str, **arguments: object) -> dict[str, object]:
    return {
        "key": key,
        "prompt": f"Prompt {key}",
        "instruction_id_list": list(names),
        "kwargs": [arguments for _ in names],
    }


def file_of(folder: Path, *entries: object) -> Path:
    path = folder / "prompts.jsonl"
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in entries) + "\n")
    return path


def loaded(path: Path, **options: object) -> ExternalLoad:
    return load_external("ifeval", ExternalOptions(path, **options))  # type: ignore[arg-type]


def scored(case: Case, text: str) -> CaseScore:
    return asyncio.run(play(case, Slot(1), Script([said(text)]), target(), MANNER)).score


@pytest.mark.parametrize(
    ("text", "answer", "share"),
    [('"A lamp for [name]"', "1111", 1.0), ('"A light, for [name]"', "0110", 0.5), ("x, y", "0000", 0.0)],
)
def test_four_instructions_are_scored_one_by_one(
    tmp_path: Path, text: str, answer: str, share: float
) -> None:
    (case,) = loaded(file_of(tmp_path, FOUR)).cases
    score = scored(case, text)
    assert (score.answer, score.value) == (answer, share)
    assert score.metrics == {"instructions_passed": 4 * share, "instructions_total": 4.0}
    assert score.passed is (share == 1.0)


def test_a_preface_fails_strictly_and_passes_loosely(tmp_path: Path) -> None:
    path = file_of(tmp_path, line(1, "startend:quotation"))
    text = 'Here you are:\n"A lamp"'
    assert not scored(loaded(path).cases[0], text).passed
    assert scored(loaded(path, mode="loose").cases[0], text).passed


def test_a_broken_instruction_is_named(tmp_path: Path) -> None:
    (case,) = loaded(file_of(tmp_path, FOUR)).cases
    assert scored(case, '"A lamp, [x]"').reason == "not followed: punctuation:no_comma"


def test_a_case_tells_what_it_is(tmp_path: Path) -> None:
    cases = loaded(file_of(tmp_path, FOUR, line("b-2", "punctuation:no_comma"))).cases
    assert [(case.identifier, case.difficulty) for case in cases] == [
        ("ifeval-12", "hard"),
        ("ifeval-b-2", "medium"),
    ]
    assert {case.dimension for case in cases} == {"instruction-following"}
    assert cases[0].make(1).messages[0].content == FOUR["prompt"]


def test_a_nonce_that_is_repeated_with_the_prompt_does_not_matter(tmp_path: Path) -> None:
    entry = line(1, "combination:repeat_prompt", prompt_to_repeat="Prompt 1")
    (case,) = loaded(file_of(tmp_path, entry)).cases
    nonce = case.nonce(MANNER.salt, Slot(1))
    assert scored(case, f"{nonce}\nPrompt 1\nA lamp").passed
    assert scored(case, "Prompt 1 A lamp").passed


def test_null_arguments_as_published_files_have_them_are_passed_over(tmp_path: Path) -> None:
    entry = line(1, "detectable_format:number_bullet_lists", num_bullets=2.0, keywords=None, relation=None)
    (case,) = loaded(file_of(tmp_path, entry)).cases
    assert scored(case, "* a\n* b").passed


def test_prompts_without_a_rule_are_left_out_with_their_reason(tmp_path: Path) -> None:
    path = file_of(tmp_path, FOUR, line(2, "made:up"), line(3, "keywords:existence"))
    found = loaded(path)
    assert [case.identifier for case in found.cases] == ["ifeval-12"]
    assert found.left_out == (
        "2: there is no rule for made:up",
        "3: keywords:existence needs keywords, a list of texts",
    )
    with pytest.raises(ConfigurationError, match="made:up") as caught:
        loaded(path, unsupported="error")
    assert "line 2" in str(caught.value)


def test_without_the_package_for_languages_the_reason_names_it(tmp_path: Path) -> None:
    path = file_of(tmp_path, line(1, "language:response_language", language="de"))
    found = IfEval(detector=None).load(ExternalOptions(path))
    assert found.cases == ()
    assert found.left_out == (
        "1: there is no rule for language:response_language without the package py3langid",
    )
    assert len(IfEval(detector=lambda _text: "de").load(ExternalOptions(path)).cases) == 1


def test_offset_and_limit_count_what_is_left(tmp_path: Path) -> None:
    entries = [line(number, "punctuation:no_comma") for number in range(1, 6)]
    path = file_of(tmp_path, line(0, "made:up"), *entries)
    found = loaded(path, offset=1, limit=2)
    assert [case.identifier for case in found.cases] == ["ifeval-2", "ifeval-3"]
    with pytest.raises(UsageError, match="no cases"):
        loaded(path, offset=50)
    with pytest.raises(UsageError, match="limit"):
        loaded(path, limit=0)


@pytest.mark.parametrize(
    ("entry", "said_of_it"),
    [
        ("{not json", "no JSON"),
        ("[1]", "line"),
        ({"key": 1, "prompt": "x", "instruction_id_list": ["a"], "kwargs": []}, "differ in length"),
        ({"key": 1, "prompt": "x", "instruction_id_list": [], "kwargs": []}, "instruction_id_list"),
        ({"key": 1, "prompt": "", "instruction_id_list": ["a"], "kwargs": [{}]}, "prompt"),
        ({"key": 1.5, "prompt": "x", "instruction_id_list": ["a"], "kwargs": [{}]}, "key"),
        ({"prompt": "x", "instruction_id_list": ["a"], "kwargs": [{}]}, "key"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path: Path, entry: object, said_of_it: str) -> None:
    with pytest.raises(ConfigurationError, match=said_of_it) as caught:
        loaded(file_of(tmp_path, FOUR, "", entry))
    assert "line 3" in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        loaded(tmp_path / "gone.jsonl")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="not UTF-8 text"):
        loaded(tmp_path / "bytes.jsonl")


def test_the_same_key_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ifeval-12"):
        loaded(file_of(tmp_path, FOUR, FOUR))


class Own:
    """A suite of somebody else's, found by its import path."""

    name = "own"
    title = "Own"

    def load(self, _options: ExternalOptions) -> ExternalLoad:
        return ExternalLoad((KNOWN,))


class Nonsense(Own):
    def load(self, _options: ExternalOptions) -> ExternalLoad:
        return ExternalLoad(("no case",))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*EXTERNAL_SUITES, f"{__name__}:Own"])
def test_every_suite_keeps_the_contract(name: str, tmp_path: Path) -> None:
    suite = external_suite(name)
    assert suite.name
    assert suite.title
    found = load_external(name, ExternalOptions(file_of(tmp_path, FOUR)))
    for case in found.cases:
        puzzle = case.make(1)
        assert puzzle.messages
        assert puzzle.judge(said("")).verdict in {Verdict.FAILED, Verdict.INVALID_FORMAT}
        assert case.make(1).messages == puzzle.messages


def test_what_is_no_suite_is_refused(tmp_path: Path) -> None:
    options = ExternalOptions(file_of(tmp_path, FOUR))
    with pytest.raises(UsageError, match="did you mean 'ifeval'"):
        load_external("ifevl", options)
    with pytest.raises(ConfigurationError, match="no case"):
        load_external(f"{__name__}:Nonsense", options)
    with pytest.raises(ConfigurationError, match="no external suite"):
        load_external("pathlib:Path", options)
