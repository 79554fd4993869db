"""Values for what a script leaves open: they fit their schema, however strange it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.replay.schemas import choices, filler, kind, properties, required

SIMPLE = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number", "maximum": 0.5},
        {"type": "boolean"},
        {"type": ["null", "string"]},
        {"enum": ["a", "b"]},
        {"const": 7},
        {"type": "string", "default": "d"},
    ]
)
SCHEMAS = st.recursive(
    SIMPLE,
    lambda inner: (
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 3),
        )
        | st.dictionaries(st.text(min_size=1, max_size=4), inner, max_size=3).map(
            lambda fields: {"type": "object", "properties": fields, "required": list(fields)}
        )
        | inner.map(lambda one: {"anyOf": [one, {"type": "null"}]})
    ),
    max_leaves=8,
)


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether ``value`` fits, as far as these tests use schemas."""
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    if "const" in schema:
        return bool(value == schema["const"])
    named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "object" in named:
        fields = schema["properties"]
        return isinstance(value, dict) and all(fits(value[name], fields[name]) for name in schema["required"])
    if "array" in named:
        return (
            isinstance(value, list)
            and len(value) >= schema.get("minItems", 0)
            and all(fits(one, schema["items"]) for one in value)
        )
    types = {"string": str, "integer": int, "number": int | float, "boolean": bool, "null": type(None)}
    return any(isinstance(value, types[name]) for name in named) and (
        "maximum" not in schema or float(str(value)) <= schema["maximum"]
    )


@given(SCHEMAS)
def test_what_is_filled_in_fits(schema: dict[str, Any]) -> None:
    assert fits(filler(schema), schema)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "properties",
                        "required",
                        "items",
                        "anyOf",
                        "$ref",
                        "enum",
                        "minItems",
                        "minimum",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)
def test_no_schema_brings_it_down(schema: object) -> None:
    found = schema if isinstance(schema, dict) else {"properties": schema, "anyOf": schema, "items": schema}
    filler(found)
    assert all(isinstance(name, str) for name in (*properties(found), *required(found)))


def test_references_are_followed_and_circles_end() -> None:
    tree = {
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "leaf": {"$ref": "#/definitions/leaf"}},
        "required": ["leaf"],
        "definitions": {"leaf": {"type": "integer", "minimum": 5}},
    }
    circle = {
        "$ref": "#/definitions/node",
        "definitions": {
            "node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/definitions/node"}},
                "required": ["next"],
            },
            "self": {"$ref": "#/definitions/self"},
        },
    }
    assert filler(tree) == {"leaf": 5}
    assert isinstance(filler(circle), dict)
    assert filler({"$ref": "#/definitions/self", "definitions": circle["definitions"]}) == "scripted"
    assert filler({"$ref": "#/nowhere"}) == "scripted"


@pytest.mark.parametrize(
    ("name", "value"), [("subagent_type", "general-purpose"), ("agent_name", "generalist"), ("x", "scripted")]
)
def test_fields_with_a_hidden_list_get_a_value_from_it(name: str, value: str) -> None:
    assert filler({"type": "string"}, name) == value


def test_types_are_read_without_null_and_without_case() -> None:
    assert (kind({"type": ["null", "STRING"]}), kind({"type": "OBJECT"}), kind({})) == (
        "string",
        "object",
        None,
    )


def test_only_texts_are_choices() -> None:
    assert choices({"enum": ["a", 1, None, "b"]}) == ["a", "b"]
    assert choices({"enum": "a"}) == choices({}) == []
