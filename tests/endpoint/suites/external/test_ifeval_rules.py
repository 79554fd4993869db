"""Each of the 25 instruction types: texts that follow it and texts that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.endpoint.suites.external.ifeval import RULES, SPOKEN_RULES, followed, rule_of, variants
from runner.endpoint.suites.external.ifeval_text import Unusable, sentences
from runner.endpoint.suites.external.spoken import installed_detector

DETECTOR = installed_detector()
SECTIONS = {"section_spliter": "Section", "num_sections": 2}
EXAMPLES: list[tuple[str, dict[str, object], list[str], list[str]]] = [
    ("keywords:existence", {"keywords": ["Fox", "hen"]}, ["The FOX saw a hen."], ["The fox ran.", "he"]),
    (
        "keywords:frequency",
        {"keyword": "owl", "frequency": 2, "relation": "at least"},
        ["Owl, owl!", "owl owlet OWL"],
        ["one owl"],
    ),
    (
        "keywords:frequency",
        {"keyword": "owl", "frequency": 2, "relation": "less than"},
        ["owl", "none"],
        ["owl owl"],
    ),
    (
        "keywords:forbidden_words",
        {"forbidden_words": ["ham", "c++"]},
        ["hamster and C"],
        ["I eat Ham.", "I write C++ code", "ham"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "z", "let_frequency": 3, "let_relation": "at least"},
        ["Zig zag fizz"],
        ["zig zag"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "!", "let_frequency": 1, "let_relation": "less than"},
        ["calm"],
        ["loud!"],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "less than"},
        ["One. Two!", "Dr. Who met Mr. Hu at 3.5 km. Fine."],
        ["One. Two? Three."],
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["a\n***\nb", "***\na\n***\nb\n***"],
        ["a", "a\n***\n***\nb", "a\n***\nb\n***\nc"],
    ),
    (
        "length_constraints:number_words",
        {"num_words": 4, "relation": "at least"},
        ["one two three four", "a-b c d"],
        ["one two three"],
    ),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "weekend"},
        ["a b\n\nWeekend, at last"],
        ["weekend\n\nother", "a\n\nweekend\n\nc", "a\n\nweekends", "weekend"],
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        ["[name], [street]"],
        ["[name]", "[] []", "none"],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye\nP.S. More", "p. s. x", "P.S.\nMore"],
        ["Bye", "P.S."],
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, ["P.P.S. so"], ["P.S. so"]),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* a\n* b", "- a\ntext\n  - b", "- a\n---\n- b"],
        ["* a", "* a\n* b\n* c", "**bold** a\n* b"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["My answer is no.", "Well: My answer is maybe."],
        ["no", ""],
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*one* and **two**", "*a* *b* *c*"],
        ["*one*", "* * * *", "2 * 3"],
    ),
    (
        "detectable_format:multiple_sections",
        SECTIONS,
        ["Section 1\nx\nSection 2\ny", "**Section 1**: a **Section 2**: b"],
        ["Section 1", "Sections\nSections"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": [1]}', '```json\n{"a": 1}\n```', "```\n[]\n```", "3"],
        ["{a: 1}", 'Here: ```json\n{"a": 1}\n```', '```json\n{"a": 1}', "text"],
    ),
    ("detectable_format:title", {}, ["<<A day>>\ntext"], ["<A day>", "<<>>", "<< >>", "<<a\nb>>"]),
    (
        "combination:two_responses",
        {},
        ["one ****** two", "******\none\n******\ntwo\n******"],
        ["one", "one ****** one", "a ****** b ****** c", "a ****** ****** b"],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Write a poem."},
        ["write a POEM. Here it is"],
        ["Here: write a poem.", "Write a song."],
    ),
    (
        "startend:end_checker",
        {"end_phrase": "That is all!"},
        ['x. "that is ALL!"', "That is all!"],
        ["That is all! Bye"],
    ),
    ("startend:quotation", {}, ['"All of it."', '  "x"\n'], ['"Half" of it', '"', "none"]),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["READ IT now", "I AM"],
        ["Read IT now"],
    ),
    ("punctuation:no_comma", {}, ["no such mark here"], ["one, two"]),
    (
        "language:response_language",
        {"language": "de"},
        ["Das ist ein kurzer Satz, den man in Hamburg verstehen kann."],
        ["This is a short sentence that people in London understand."],
    ),
    (
        "change_case:english_capital",
        {},
        ["THIS IS A SHORT SENTENCE THAT PEOPLE UNDERSTAND."],
        ["This is a sentence.", "DAS IST EIN KURZER SATZ, DEN MAN IN HAMBURG GUT VERSTEHEN KANN."],
    ),
    (
        "change_case:english_lowercase",
        {},
        ["this is a short sentence that people understand."],
        ["This is a sentence.", "das ist ein kurzer satz, den man in hamburg gut verstehen kann."],
    ),
]


def test_all_25_types_have_a_rule_and_an_example() -> None:
    known = set(RULES) | set(SPOKEN_RULES)
    assert len(known) == 25
    assert {name for name, *_ in EXAMPLES} == known


@pytest.mark.parametrize(("name", "arguments", "good", "bad"), EXAMPLES, ids=lambda value: str(value)[:40])
def test_texts_that_follow_pass_and_others_do_not(
    name: str, arguments: dict[str, object], good: list[str], bad: list[str]
) -> None:
    rule = rule_of(name, DETECTOR)
    assert rule is not None
    for text in good:
        assert followed(text, rule, arguments, loose=False), text
    for text in bad:
        assert not followed(text, rule, arguments, loose=False), text


@pytest.mark.parametrize("name", [*RULES, *SPOKEN_RULES])
@given(text=st.text(max_size=80))
def test_no_text_breaks_a_rule(name: str, text: str) -> None:
    arguments = next(arguments for known, arguments, *_ in EXAMPLES if known == name)
    rule = rule_of(name, lambda _text: "en")
    assert rule is not None
    assert followed(text, rule, arguments, loose=True) in {True, False}


@pytest.mark.parametrize("name", [*RULES, *SPOKEN_RULES])
def test_an_empty_answer_follows_nothing(name: str) -> None:
    arguments = next(arguments for known, arguments, *_ in EXAMPLES if known == name)
    rule = rule_of(name, lambda _text: "en")
    assert rule is not None
    assert not followed("", rule, arguments, loose=True)
    assert not followed(" \n ", rule, arguments, loose=False)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("keywords:existence", {}),
        ("keywords:existence", {"keywords": [1]}),
        ("keywords:frequency", {"keyword": "a", "frequency": 2, "relation": "about"}),
        ("keywords:frequency", {"keyword": "a", "frequency": -1, "relation": "at least"}),
        ("keywords:letter_frequency", {"letter": "ab", "let_frequency": 1, "let_relation": "at least"}),
        ("length_constraints:number_words", {"num_words": True, "relation": "at least"}),
        ("length_constraints:number_words", {"num_words": 2.5, "relation": "at least"}),
        ("detectable_content:postscript", {"postscript_marker": " "}),
    ],
)
def test_arguments_that_make_no_sense_are_refused(name: str, arguments: dict[str, object]) -> None:
    rule = rule_of(name, None)
    assert rule is not None
    with pytest.raises(Unusable):
        rule("a text", arguments)


def test_the_loose_mode_forgives_a_line_before_and_after_and_stars() -> None:
    rule = RULES["startend:quotation"]
    text = 'Sure, here it is:\n**"All of it."**\nI hope it helps.'
    assert not followed(text, rule, {}, loose=False)
    assert followed(text, rule, {}, loose=True)
    assert len(variants("a*\nb\nc")) == 6


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("...", 0),
        ("One", 1),
        ("One. Two", 2),
        ("Really?! Yes.", 2),
        ("It costs 3.50 a piece. Fine.", 2),
        ("Mr. Hu left.", 1),
        ("He said: 'Go.' She went.", 2),
        ("see e.g. the list. Done!", 2),
        ("Is it good? No. It is bad.", 3),
        ("So am I. Are you?", 2),
        ("J. R. Ewing came at 9 a.m. today. Good.", 2),
        ("\u4f60\u597d\u3002\u518d\u89c1\u3002", 2),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert sentences(text) == count


def test_without_a_detector_there_is_no_rule_for_languages() -> None:
    assert all(rule_of(name, None) is None for name in SPOKEN_RULES)
    assert rule_of("made:up", DETECTOR) is None
