"""No word of the validation library reaches a user."""

from __future__ import annotations

import ast
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError, field_validator

from runner.records import Part
from runner.records.base import Moment
from runner.records.plain_words import in_plain_words

PROJECT = Path(__file__).parents[2]


class Colour(StrEnum):
    """One of two."""

    RED = "red"
    BLUE = "blue"


class Sheet(Part):
    """A value of each kind."""

    whole: Annotated[int, Field(ge=1, le=9)] = 1
    number: Annotated[float, Field(gt=0.0, lt=1e6)] = 1.0
    truth: bool = True
    text: Annotated[str, Field(min_length=1, max_length=3, pattern="^[a-z]*$")] = "a"
    names: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("a",)
    table: dict[str, int] | None = None
    day: date = date(2026, 11, 30)
    moment: Moment | None = None
    word: Literal["one", "two"] = "one"
    colour: Colour = Colour.RED
    inner: Sheet | None = None

    @field_validator("text")
    @classmethod
    def _no_x(cls, value: str) -> str:
        if value == "x":
            raise ValueError("x, y and z are taken")
        return value


class Whole(Part):
    """What must be there."""

    name: str


def words(document: object, model: type[Part] = Sheet) -> list[str]:
    with pytest.raises(ValidationError) as found:
        model.model_validate(document, strict=False)
    return [f"{'.'.join(map(str, each['loc']))}: {in_plain_words(each)}" for each in found.value.errors()]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"whole": "four"}, "whole: must be a whole number"),
        ({"whole": 1.5}, "whole: must be a whole number"),
        ({"whole": 0}, "whole: must be 1 or more"),
        ({"whole": 10}, "whole: must be 9 or less"),
        ({"number": "much"}, "number: must be a number"),
        ({"number": 0}, "number: must be greater than 0"),
        ({"number": 1e6}, "number: must be less than 1,000,000"),
        ({"truth": "perhaps"}, "truth: must be true or false"),
        ({"text": []}, "text: must be text"),
        ({"text": ""}, "text: must not be empty"),
        ({"text": "abcd"}, "text: is longer than 3 characters"),
        ({"text": "A"}, "text: has a form that is not allowed here"),
        ({"text": "x"}, "text: x, y and z are taken"),
        ({"names": "a"}, "names: must be a list"),
        ({"names": []}, "names: needs at least one item"),
        ({"names": ["a", "b", "c"]}, "names: has more than 2 items"),
        ({"table": 7}, "table: must hold keys and values"),
        ({"inner": 7}, "inner: must hold keys and values"),
        ({"inner": {"inner": {"wohle": 1}}}, "inner.inner.wohle: is no key here"),
        ({"day": "today"}, "day: must be a day, as in 2026-11-30"),
        ({"moment": "now"}, "moment: must be a moment, as in 2026-11-30T12:00:00Z"),
        ({"moment": "2026-11-30T12:00:00"}, "moment: a time needs a zone"),
        ({"word": "three"}, "word: must be 'one' or 'two'"),
        ({"colour": "green"}, "colour: must be 'red' or 'blue'"),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(document: object, said: str) -> None:
    [told] = words(document)
    assert told.startswith(said)
    assert not {"Input", "valid", "permitted", "required", "instance"} & set(told.replace(":", " ").split())


def test_what_is_missing_is_told() -> None:
    assert words({}, Whole) == ["name: is missing"]


def test_a_key_is_never_shown_with_its_wrong_value() -> None:
    assert "sk-secret" not in "".join(words({"whole": "sk-secret", "text": "sk-secret", "word": "sk-secret"}))


def test_nobody_shows_the_words_of_the_library_but_the_one_who_translates_them() -> None:
    found = []
    for path in sorted([*(PROJECT / "runner").rglob("*.py"), *(PROJECT / "generators").rglob("*.py")]):
        text = path.read_text(encoding="utf-8")
        if "ValidationError" not in text or path.name == "plain_words.py":
            continue
        for node in ast.walk(ast.parse(text)):
            is_key = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
            if is_key and ast.unparse(node).endswith("['msg']"):
                found.append(f"{path.relative_to(PROJECT)}:{getattr(node, 'lineno', 0)}")
    assert found == []
