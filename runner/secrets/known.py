"""Known secrets: the values of this machine's environment, in every spelling in which they travel."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus, unquote, urlsplit

SHORTEST_NAMED = 6
SHORTEST_GUESSED = 8
SHORTEST_ENCODED = 12
SECRET_NAME = re.compile(
    r"(?:^|_)(?:(?:API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION|MASTER)?_?KEY|TOKEN|SECRETS?|PASSWORD|PASSWD"
    r"|PASSPHRASE|PASS|PWD|CREDENTIALS?|AUTH|PAT|WEBHOOK)(?:_|$)|APIKEY|AUTHTOKEN",
    re.IGNORECASE,
)
PLAIN = re.compile(r"[a-z]+|[0-9.]+|true|false|~?/.*|[A-Za-z]:\\.*", re.IGNORECASE)
HARMLESS_NAMES = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "GPG_KEY"})


def known_secrets(environment: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Values that must not be written anywhere, by a name to report them under.

    Args:
        environment: all variables; those whose name speaks of a secret count, and passwords inside
            addresses do whatever the name.
        names: variables that the user says hold a key; they count even when short or plain.
    """
    named = set(names)
    found: dict[str, str] = {}
    for name, raw in environment.items():
        value = raw.strip()
        if (name in named and len(value) >= SHORTEST_NAMED) or _guessed(name, value):
            found[name] = value
        elif password := _password(value):
            found[f"{name} (password)"] = password
    return found


def _guessed(name: str, value: str) -> bool:
    speaks = SECRET_NAME.search(name) is not None and name not in HARMLESS_NAMES
    return speaks and len(value) >= SHORTEST_GUESSED and PLAIN.fullmatch(value) is None


def _password(value: str) -> str | None:
    """The password in an address such as a database's."""
    if "://" not in value:
        return None
    try:
        password = unquote(urlsplit(value).password or "")
    except ValueError:
        return None
    return password if len(password) >= SHORTEST_GUESSED else None


def spellings(value: str) -> frozenset[bytes]:
    """``value`` as it is, JSON-escaped, URL-encoded, in base64 at each of the three offsets, and in hex."""
    plain = value.encode("utf-8", "surrogatepass")
    found = {plain, plain.strip()}
    for ascii_only in (True, False):
        found.add(json.dumps(value, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogatepass"))
    for encoded in (quote(plain, safe=""), quote(plain), quote_plus(plain)):
        found.add(encoded.encode())
        found.add(re.sub("%[0-9A-F]{2}", lambda match: match.group().lower(), encoded).encode())
    if len(plain) >= SHORTEST_ENCODED:
        found |= set(_in_base64(plain))
        found |= {
            binascii.hexlify(plain),
            binascii.hexlify(plain).upper(),
            plain.decode().encode("utf-16-le"),
        }
    return frozenset(found)


def _in_base64(plain: bytes) -> Iterator[bytes]:
    """The characters of base64 that only ``plain`` decides, wherever it begins in the encoded text."""
    for offset in range(3):
        padded = bytes(offset) + plain
        whole = len(padded) // 3 * 3
        text = base64.b64encode(padded[:whole])[4 if offset else 0 :]
        yield text
        yield text.translate(bytes.maketrans(b"+/", b"-_"))
