"""IFEval text rules: words, letters, sentences, paragraphs, language and case."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runner.endpoint.suites.external.spoken import Detector

Arguments = Mapping[str, object]
LESS_THAN = "less than"
AT_LEAST = "at least"
RELATIONS = (LESS_THAN, AT_LEAST)
_WORD = re.compile(r"\w+")
_PARAGRAPH_MARK = re.compile(r"\s?\*\*\*\s?")
_ABBREVIATION = re.compile(
    r"(?:^|[^\w])(?:[Mm]rs?|[Mm]s|[Dd]r|[Pp]rof|St|[JS]r|[Vv]s|e\.g|i\.e|cf|a\.m|p\.m|[A-HJ-Z])\.$"
)
_SENTENCE_END = re.compile(r"[.!?]+[\"'\u201d\u2019)\]]*(?=\s|$)|[\u3002\uff01\uff1f]+")


class Unusable(ValueError):
    """The arguments of an instruction are not what its rule needs."""


def text_of(arguments: Arguments, key: str) -> str:
    """A text that is not empty.

    Raises:
        Unusable: it is missing or something else.
    """
    value = arguments.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Unusable(f"needs {key}, a text")
    return value


def number_of(arguments: Arguments, key: str) -> int:
    """A whole number of at least 0; files write some of them as 3.0.

    Raises:
        Unusable: it is missing or something else.
    """
    value = arguments.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
        raise Unusable(f"needs {key}, a number")
    return int(value)


def texts_of(arguments: Arguments, key: str) -> list[str]:
    """A list of texts.

    Raises:
        Unusable: it is missing or something else.
    """
    value = arguments.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(each, str) and each for each in value):
        raise Unusable(f"needs {key}, a list of texts")
    return value


def related(count: int, arguments: Arguments, number_key: str, relation_key: str) -> bool:
    """Whether ``count`` stands in the asked relation to the asked number.

    Raises:
        Unusable: the number or the relation is missing or unknown.
    """
    wanted, relation = number_of(arguments, number_key), text_of(arguments, relation_key)
    if relation not in RELATIONS:
        raise Unusable(f"knows the relations {' and '.join(RELATIONS)}")
    return count < wanted if relation == LESS_THAN else count >= wanted


def has_keywords(text: str, arguments: Arguments) -> bool:
    """Every keyword stands in the text, in whatever case."""
    low = text.lower()
    return all(word.lower() in low for word in texts_of(arguments, "keywords"))


def has_no_forbidden_words(text: str, arguments: Arguments) -> bool:
    """None of the words stands in the text as a word of its own."""
    words = texts_of(arguments, "forbidden_words")
    return not any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in words)


def keyword_frequency(text: str, arguments: Arguments) -> bool:
    """How often a keyword stands in the text, parts of words included."""
    count = text.lower().count(text_of(arguments, "keyword").lower().strip())
    return related(count, arguments, "frequency", "relation")


def letter_frequency(text: str, arguments: Arguments) -> bool:
    """How often a letter stands in the text, in whatever case."""
    letter = text_of(arguments, "letter").strip().lower()
    if len(letter) != 1:
        raise Unusable("needs letter, a single one")
    return related(text.lower().count(letter), arguments, "let_frequency", "let_relation")


def sentences(text: str) -> int:
    """How many sentences ``text`` has.

    A sentence ends at a full stop, exclamation or question mark before a blank or the end; not after common
    abbreviations and initials. The marks of Chinese and Japanese need no blank. A last line without such a
    mark counts as well. An approximation, as is any count of sentences.
    """
    found = 0
    start = 0
    for match in _SENTENCE_END.finditer(text):
        piece = text[start : match.end()]
        if _ABBREVIATION.search(piece[-12:]) and text[match.end() :].strip():
            continue
        if _WORD.search(piece):
            found += 1
        start = match.end()
    return found + (1 if _WORD.search(text[start:]) else 0)


def sentence_count(text: str, arguments: Arguments) -> bool:
    """The number of sentences."""
    return related(sentences(text), arguments, "num_sentences", "relation")


def word_count(text: str, arguments: Arguments) -> bool:
    """The number of words: runs of letters, digits and underscores."""
    return related(len(_WORD.findall(text)), arguments, "num_words", "relation")


def paragraph_count(text: str, arguments: Arguments) -> bool:
    """Exactly so many paragraphs with ``***`` between them; none in the middle is empty."""
    parts = _PARAGRAPH_MARK.split(text)
    inner = [part for place, part in enumerate(parts) if part.strip() or 0 < place < len(parts) - 1]
    return all(part.strip() for part in inner) and len(inner) == number_of(arguments, "num_paragraphs")


def paragraph_first_word(text: str, arguments: Arguments) -> bool:
    """So many paragraphs with an empty line between them, of which one begins with a given word."""
    count, which = number_of(arguments, "num_paragraphs"), number_of(arguments, "nth_paragraph")
    wanted = text_of(arguments, "first_word").lower().strip()
    parts = [part.strip() for part in text.split("\n\n")]
    if sum(bool(part) for part in parts) != count or not 1 <= which <= len(parts) or not parts[which - 1]:
        return False
    first = parts[which - 1].split()[0].lstrip("'\"")
    match = re.match(r"[^.,?!'\"]*", first)
    return match is not None and match[0].lower() == wanted


def no_comma(text: str, _arguments: Arguments) -> bool:
    """No comma."""
    return "," not in text


def capital_words(text: str, arguments: Arguments) -> bool:
    """How many words are in capitals throughout."""
    count = sum(word.isupper() for word in re.findall(r"[^\W_][\w'-]*", text))
    return related(count, arguments, "capital_frequency", "capital_relation")


def in_language(text: str, arguments: Arguments, detector: Detector) -> bool:
    """The text is in the language of a code such as ``de``."""
    wanted = text_of(arguments, "language").lower()
    return detector(text).lower().split("-")[0] == wanted.split("-")[0]


def english_capital(text: str, detector: Detector) -> bool:
    """English, in capitals throughout."""
    return text.isupper() and detector(text.lower()) == "en"


def english_lowercase(text: str, detector: Detector) -> bool:
    """English, without capitals."""
    return text.islower() and detector(text) == "en"
