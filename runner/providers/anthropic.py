"""Anthropic: the vendor's own API, over Messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.harnesses.endpoint import WireProtocol
from runner.providers.about import About
from runner.providers.vendor import VendorApi

API_VERSION = "2023-06-01"

ABOUT = About(
    summary="Anthropic's own API, over Messages.",
    flags="--provider anthropic --model MODEL",
    credentials="the key in ANTHROPIC_API_KEY, or in the variable named with --api-key-env",
    notes=("Its list of models tells the context window of the newer ones.",),
)


@dataclass(frozen=True)
class Anthropic(VendorApi):
    """The provider ``anthropic``. Its list of models tells the context window of the newer ones."""

    name: str = "anthropic"
    base_url: str = "https://api.anthropic.com/v1"
    protocols: tuple[WireProtocol, ...] = (WireProtocol.MESSAGES,)
    key_variable: str = "ANTHROPIC_API_KEY"
    about: About = ABOUT

    def headers(self, key: str) -> Mapping[str, str]:
        """Key and version of the API."""
        return {"x-api-key": key, "anthropic-version": API_VERSION}
