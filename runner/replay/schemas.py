"""Schemas: the smallest values that fit a JSON Schema, for what a script does not say."""

from __future__ import annotations

from collections.abc import Mapping

MAX_DEPTH = 12
FILLER = "scripted"
WELL_KNOWN: Mapping[str, str] = {"subagent_type": "general-purpose", "agent_name": "generalist"}
"""Values of fields that are free text in the schema and a closed list in the agent."""


def properties(schema: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    """The properties of an object's schema; empty where it has none."""
    found = schema.get("properties")
    if not isinstance(found, Mapping):
        return {}
    return {str(key): value if isinstance(value, Mapping) else {} for key, value in found.items()}


def required(schema: Mapping[str, object]) -> list[str]:
    """Names of the fields that an object must have."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def kind(schema: Mapping[str, object]) -> str | None:
    """Type of a value, in small letters: the first one that is not null, None where none is said."""
    named = schema.get("type")
    choices = named if isinstance(named, list) else [named]
    return next((str(one).lower() for one in choices if isinstance(one, str) and one.lower() != "null"), None)


def choices(schema: Mapping[str, object]) -> list[str]:
    """The texts that a value may be, where the schema lists them; empty where it does not."""
    listed = schema.get("enum")
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def filler(schema: Mapping[str, object], name: str = "") -> object:
    """A value for a required field that the script leaves open."""
    return _smallest(schema, schema, name, 0)


def _smallest(schema: Mapping[str, object], root: Mapping[str, object], name: str, depth: int) -> object:
    schema = _resolved(schema, root)
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    wanted = kind(schema) or ("object" if "properties" in schema else "string")
    if wanted == "object":
        fields = properties(schema)
        names = required(schema) if depth < MAX_DEPTH else []
        return {field: _smallest(fields.get(field, {}), root, field, depth + 1) for field in names}
    if wanted == "array":
        return _shortest_list(schema, root, name, depth)
    if wanted in {"integer", "number"}:
        return _number(schema)
    return {"boolean": False, "null": None}.get(wanted, WELL_KNOWN.get(name, FILLER))


def _resolved(schema: Mapping[str, object], root: Mapping[str, object]) -> Mapping[str, object]:
    """``schema`` without a reference or a choice at its top: the first choice is taken."""
    for _ in range(MAX_DEPTH):
        reference = schema.get("$ref")
        choices = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if key in schema), None)
        if isinstance(reference, str) and reference.startswith("#/"):
            target: object = root
            for part in reference[2:].split("/"):
                target = target.get(part) if isinstance(target, Mapping) else None
        elif isinstance(choices, list) and choices:
            target = choices[0]
        else:
            break
        schema = target if isinstance(target, Mapping) else {}
    return schema


def _shortest_list(
    schema: Mapping[str, object], root: Mapping[str, object], name: str, depth: int
) -> list[object]:
    least, items = schema.get("minItems"), schema.get("items")
    count = min(least, 100) if isinstance(least, int) and depth < MAX_DEPTH else 0
    entry = items if isinstance(items, Mapping) else {}
    return [_smallest(entry, root, name, depth + 1) for _ in range(count)]


def _number(schema: Mapping[str, object]) -> int | float:
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(least, int | float) and least > 1:
        return least
    return most if isinstance(most, int | float) and most < 1 else 1
