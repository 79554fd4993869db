"""Configuration: the digest of what a harness was set up with, the same on every machine."""

from __future__ import annotations

import hashlib

from runner.harnesses.base import Launch
from runner.harnesses.endpoint import Endpoint


def configuration_digest(launch: Launch, endpoint: Endpoint, folder: str) -> str | None:
    """SHA-256 over the files that were written for ``launch``; None where there are none.

    The address of the gateway, the key and the trial's folder differ from start to start and say nothing
    about the set-up, so a word stands for each.
    """
    if not launch.configuration:
        return None
    words = {endpoint.base_url: "<endpoint>", endpoint.api_key: "<key>", folder: "<trial>"}
    digest = hashlib.sha256()
    for path in sorted(launch.configuration):
        text = path.read_bytes()
        for value, word in words.items():
            text = text.replace(value.encode(), word.encode()) if value else text
        digest.update(path.name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()
