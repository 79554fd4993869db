"""Slugs: from a raw model id to the name used in folders and pages."""

from __future__ import annotations

import re

from runner.errors import PathEscapeError

BRACKET_SUFFIX = re.compile(r"\[[^\[\]]*\]$")
INFERENCE_PROFILE = re.compile(r"^(?:us|us-gov|eu|ap|apac|au|ca|jp|sa|me|af|global)\.[a-z0-9-]+\.")
DATE_SUFFIX = re.compile(r"-20\d{6}$")
NUMBERED_VERSION = re.compile(r"(?:-v\d+)?:\d+$")
BARE_VERSION = re.compile(r"-v\d+$")
OUTSIDE_ALPHABET = re.compile(r"[^a-z0-9.-]+")
MAX_LENGTH = 120


def wire_id(raw_id: str) -> str:
    """The id as sent to the provider: the raw id without a bracket suffix such as ``[1m]``."""
    return BRACKET_SUFFIX.sub("", raw_id)


def model_slug(raw_id: str, *, dots_become_dashes: bool = False) -> str:
    """Slug of a raw model id, in the closed alphabet ``[a-z0-9.-]``.

    In this order: drop one bracket suffix; drop a regional inference-profile prefix with its vendor
    (``us.anthropic.``); drop ``-vN:N`` or ``:N``, then a bare ``-vN`` where such a prefix marked the id as
    Bedrock's (elsewhere it is part of a name, as in ``deepseek-v3``), then ``-YYYYMMDD``; lower case;
    everything outside the alphabet becomes a dash. ``dots_become_dashes`` is for vendors that write
    versions both ways, such as kiro.

    Raises:
        PathEscapeError: nothing usable is left, or the id is written as a path upwards or from a root.
    """
    text = wire_id(raw_id.strip()).lower()
    if text.startswith(("/", "\\")) or any(part in {".", ".."} for part in re.split(r"[/\\]", text)):
        raise PathEscapeError(
            f"model id {raw_id!r} is written like a path", remedy="use the id the provider lists"
        )
    profile = INFERENCE_PROFILE.match(text)
    if profile:
        text = text[profile.end() :]
    text = NUMBERED_VERSION.sub("", text)
    if profile:
        text = BARE_VERSION.sub("", text)
    text = DATE_SUFFIX.sub("", text)
    return slug(text.replace(".", "-") if dots_become_dashes else text)


def slug(text: str) -> str:
    """``text`` in lower case with everything outside ``[a-z0-9.-]`` turned into single dashes.

    Raises:
        PathEscapeError: nothing usable is left.
    """
    cleaned = OUTSIDE_ALPHABET.sub("-", text.lower())
    cleaned = re.sub(r"-{2,}", "-", cleaned).strip(".-")[:MAX_LENGTH].rstrip(".-")
    if not cleaned:
        raise PathEscapeError(f"no slug can be made of {text!r}", remedy="use a name with letters or digits")
    return cleaned
