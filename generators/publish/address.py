"""Address: where the site will stand, and the sub-path that follows from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from runner.errors import UsageError

DEFAULT = "http://127.0.0.1:8000/"

# A sub-path becomes a folder name below the build folder, so it must be plain.
_SEGMENT = re.compile(r"[A-Za-z0-9._~-]+")
_GITHUB = re.compile(
    r"(?:https?://(?:[^@/]+@)?github\.com/|git@github\.com:|ssh://git@github\.com/)"
    r"(?P<owner>[A-Za-z0-9-]+)/(?P<name>[A-Za-z0-9._-]+?)(?:\.git)?/?"
)


@dataclass(frozen=True)
class SiteAddress:
    """A site's address; ``url`` ends in a slash, ``subpath`` has none at its ends ("" at a host's root)."""

    url: str
    subpath: str

    @classmethod
    def parse(cls, text: str) -> SiteAddress:
        """Read an address such as ``https://example.org/portal/``; a missing last slash is added.

        Raises:
            UsageError: no absolute http(s) address, or one with a query, a fragment or odd characters.
        """
        try:
            parts = urlsplit(text)
            host = parts.hostname
        except ValueError:
            host = None
        if host is None or parts.scheme not in ("http", "https"):
            raise _unusable(text, "it is not an absolute http or https address")
        if parts.query or parts.fragment or parts.username is not None:
            raise _unusable(text, "it carries a user name, a query or a fragment")
        segments = [segment for segment in parts.path.split("/") if segment]
        if any(not _SEGMENT.fullmatch(segment) or set(segment) == {"."} for segment in segments):
            raise _unusable(text, "its path holds more than letters, digits, '.', '_', '~' and '-'")
        subpath = "/".join(segments)
        url = f"{parts.scheme}://{parts.netloc}/" + (f"{subpath}/" if subpath else "")
        return cls(url=url, subpath=subpath)


def pages_address(remote_url: str) -> str | None:
    """The address GitHub Pages gives to the repository at ``remote_url``; None when it is not on GitHub.

    Source: https://docs.github.com/en/pages (a repository named ``<owner>.github.io`` stands at the root).
    """
    match = _GITHUB.fullmatch(remote_url.strip())
    if match is None:
        return None
    owner, name = match["owner"].lower(), match["name"]
    if name.lower() == f"{owner}.github.io":
        return f"https://{owner}.github.io/"
    return f"https://{owner}.github.io/{name}/"


def _unusable(text: str, why: str) -> UsageError:
    return UsageError(
        f"the site address cannot be used: {why}",
        where=f"SITE_URL or --url {text!r}",
        remedy="give an address such as https://example.org/portal/",
    )
