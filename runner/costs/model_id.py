"""Model id: a raw id taken apart into the forms a price list may know it by."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from runner.costs.price_row import RegionClass

GEOGRAPHIES = ("us", "eu", "ap", "apac", "au", "ca", "jp", "sa", "me", "af", "in", "uk", "mx", "il")
"""Prefixes of inference profiles that keep a request inside one geography.

Not ``us-gov``: its prices are a class of their own that no row has, so such an id stays unknown.
"""
_REGION = re.compile(rf"^(global|{'|'.join(sorted(GEOGRAPHIES, key=len, reverse=True))})\.(?=[a-z])")
_RESOURCE = re.compile(r"^arn:[^/]*(?:inference-profile|foundation-model)/")
VERSION = "the version"
_CUTS = (
    (re.compile(r"\[[^\[\]]*\]$"), "what stands in brackets"),
    (re.compile(r"(?:-v?\d+)?:\d+$"), VERSION),
    (re.compile(r"(?<=[a-z0-9])(?:-|@)\d{4}-?\d{2}-?\d{2}$"), "the date"),
    (re.compile(r"(?<=[a-z0-9])-instruct$"), "-instruct"),
)
_VENDOR = re.compile(r"^[a-z][a-z0-9]*\.[a-z]")
_BARE_VERSION = re.compile(r"-v\d+$")
"""Cut from ids with a vendor in front only: elsewhere it is part of the name, as in deepseek-v3."""


@dataclass(frozen=True)
class ModelId:
    """A raw id in its forms, from the least to the most shortened, and what its prefix says."""

    raw: str
    forms: tuple[str, ...]
    region_class: RegionClass | None
    steps: tuple[str, ...]

    @property
    def normalised(self) -> str:
        """The shortest form."""
        return self.forms[-1]


def model_id(raw: str, provider: str = "") -> ModelId:
    """``raw`` taken apart: region prefix first, then brackets, version, date and ``-instruct`` from its end.

    The region class is None where the id has no region prefix. Taking a normalised id apart changes
    nothing. Source of the rules: specification 5.5.
    """
    text = raw.strip().lower()
    steps: list[str] = []
    region = None
    fronts = ((_RESOURCE, "the resource name"), (_provider_prefix(provider), "the provider"))
    while True:
        if (found := _REGION.match(text)) is not None:
            region = region or _region_class(found[1])
            text = text[found.end() :]
            steps.append(f"the prefix {found[1]}. says {_region_class(found[1]).value}: {text}")
        elif (cut := _without_front(text, fronts)) is not None:
            text = cut[0]
            steps.append(f"{cut[1]} in front is dropped: {text}")
        else:
            break
    forms = [text]
    while (shorter := _shortened(forms[-1])) is not None:
        forms.append(shorter[0])
        steps.append(f"{shorter[1]} is dropped: {shorter[0]}")
    return ModelId(raw, tuple(forms), region, tuple(steps))


def _without_front(text: str, fronts: Iterable[tuple[re.Pattern[str], str]]) -> tuple[str, str] | None:
    for pattern, what in fronts:
        cut = pattern.sub("", text).strip()
        if cut and cut != text:
            return cut, what
    return None


def _provider_prefix(provider: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:{re.escape(provider.lower())}/)+" if provider else r"(?!)")


def _region_class(prefix: str) -> RegionClass:
    return RegionClass.GLOBAL if prefix == "global" else RegionClass.REGIONAL


def _shortened(text: str) -> tuple[str, str] | None:
    """The next form and what was dropped; a version stays where no other number tells models apart."""
    cuts = [*_CUTS, (_BARE_VERSION, VERSION)] if _VENDOR.match(text) else _CUTS
    for pattern, what in cuts:
        cut = pattern.sub("", text).strip()
        if cut and cut != text and (what != VERSION or any(map(str.isdigit, cut))):
            return cut, what
    return None
