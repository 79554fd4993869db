"""Addresses: what may stand in an href."""

from __future__ import annotations

import re
from urllib.parse import quote

from markupsafe import Markup

from generators.escape.html import attribute

NOWHERE = Markup("#")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_WEB = re.compile(r"https?://(?P<host>[A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(?P<rest>[/?#].*)?", re.I)
_MAIL = re.compile(r"mailto:[A-Za-z0-9._%+\-]+@[A-Za-z0-9.\-]+(\?[^#]*)?", re.I)
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
_KEPT = "/?#[]@!$&'()*+,;=:%~-._"
_LIMIT = 2048


def is_safe_url(raw: str) -> bool:
    """Whether an address is http, https, mailto or site-relative, with nothing a browser would reread."""
    address = raw.strip(" ")
    if not address or len(address) > _LIMIT or _FORBIDDEN.search(address):
        return False
    if address.startswith("//"):
        return False
    if _SCHEME.match(address):
        return bool(_WEB.fullmatch(address) or _MAIL.fullmatch(address))
    return ":" not in re.split(r"[/?#]", address, maxsplit=1)[0]


def url(raw: str) -> Markup:
    """An address for a quoted href; ``#`` when it is not http, https, mailto or site-relative.

    Refused too: control characters and backslashes (browsers drop or turn them), an address without a scheme
    that names another host (``//host``), user names before a host, and anything over 2048 characters.
    """
    if not is_safe_url(raw):
        return NOWHERE
    return attribute(quote(raw.strip(" "), safe=_KEPT, errors="replace"))
