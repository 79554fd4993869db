"""BedrockModels: what the id of a model on Amazon Bedrock tells: its maker, its area, how it can be asked."""

from __future__ import annotations

import re

from runner.harnesses.endpoint import WireProtocol

AREAS = ("us-gov", "us", "eu", "apac", "ap", "au", "jp", "ca", "global")
"""Prefixes of inference profiles: where requests may be served."""
IDENTIFIER = re.compile(rf"(?:(?P<area>{'|'.join(AREAS)})\.)?(?P<maker>[a-z0-9-]+)\..+")
ROOTS = {
    WireProtocol.BEDROCK_INVOKE: "",
    WireProtocol.BEDROCK_CONVERSE: "",
    WireProtocol.MESSAGES: "/anthropic",
    WireProtocol.RESPONSES: "/openai/v1",
    WireProtocol.CHAT_COMPLETIONS: "/openai/v1",
}
"""Path of each API on the runtime's host, in the order of preference where nothing is known of a model."""
BY_MAKER = {
    "anthropic": (WireProtocol.BEDROCK_INVOKE, WireProtocol.BEDROCK_CONVERSE, WireProtocol.MESSAGES),
    "amazon": (WireProtocol.BEDROCK_CONVERSE, WireProtocol.CHAT_COMPLETIONS),
    "openai": (WireProtocol.RESPONSES, WireProtocol.CHAT_COMPLETIONS, WireProtocol.BEDROCK_CONVERSE),
}
OPEN_WEIGHTS = (WireProtocol.CHAT_COMPLETIONS, WireProtocol.BEDROCK_CONVERSE)
"""For all other makers: Converse has given back calls of tools as plain text, so it comes last."""


def maker_of(model: str) -> str | None:
    """The maker in an id such as ``us.anthropic.claude-x-v1:0``; None where it tells none, as an ARN."""
    match = None if model.startswith("arn:") else IDENTIFIER.fullmatch(model)
    return None if match is None else match["maker"]


def area_of(model: str) -> str | None:
    """The area of an inference profile's id; None for a model by itself."""
    match = None if model.startswith("arn:") else IDENTIFIER.fullmatch(model)
    return None if match is None else match["area"]


def base_model(model: str) -> str:
    """The id without the area before it."""
    area = area_of(model)
    return model if area is None else model.removeprefix(f"{area}.")


def protocols_of(model: str) -> tuple[WireProtocol, ...]:
    """The APIs over which the model can be asked, the best one first."""
    maker = maker_of(model)
    return tuple(ROOTS) if maker is None else BY_MAKER.get(maker, OPEN_WEIGHTS)


def area_for(region: str) -> str:
    """The prefix of the profiles that stay near ``region``."""
    if region.startswith("us-gov"):
        return "us-gov"
    near = {"ap": "apac", "ca": "ca", "sa": "us", "us": "us", "eu": "eu"}
    return near.get(region.split("-", 1)[0], "global")
