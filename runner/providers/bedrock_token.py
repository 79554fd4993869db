"""BedrockToken: short-lived keys for Amazon Bedrock, made from credentials that never leave this process."""

from __future__ import annotations

import base64
import binascii
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

PREFIX = "bedrock-api-key-"
HOST = "bedrock.amazonaws.com"
LONGEST_SECONDS = 12 * 3600
"""What the service allows; a key also ends with the credentials it was made from."""
RENEWED_SECONDS = 5 * 60
"""A key is used that long, then the next one is made. Credentials that renew themselves have at least ten
minutes left whenever they are asked for, so no request goes with a key that has ended."""
STAMP = "%Y%m%dT%H%M%SZ"


def mint(credentials: Any, region: str, *, seconds: int = LONGEST_SECONDS) -> str:
    """A key for ``region``: a signed request for permission to call, as text.

    No request is sent. Rule: https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-generate.html.

    Args:
        credentials: frozen ones of botocore.
    """
    from botocore.auth import SigV4QueryAuth
    from botocore.awsrequest import AWSRequest

    asked = AWSRequest(
        method="POST",
        url=f"https://{HOST}/",
        headers={"host": HOST},
        params={"Action": "CallWithBearerToken"},
    )
    SigV4QueryAuth(credentials, "bedrock", region, expires=seconds).add_auth(asked)
    signed = str(asked.url).removeprefix("https://") + "&Version=1"
    return PREFIX + base64.b64encode(signed.encode()).decode()


def ends_at(token: str) -> datetime | None:
    """When a short-lived key ends at the latest; None for a long-lived one, whose end it does not tell."""
    if not token.startswith(PREFIX):
        return None
    try:
        signed = base64.b64decode(token.removeprefix(PREFIX), validate=True).decode()
        fields = parse_qs(urlsplit(f"https://{signed}").query)
        begun = datetime.strptime(fields["X-Amz-Date"][0], STAMP).replace(tzinfo=UTC)
        return begun + timedelta(seconds=int(fields["X-Amz-Expires"][0]))
    except (binascii.Error, UnicodeDecodeError, ValueError, KeyError, OverflowError):
        return None


def region_in(token: str) -> str | None:
    """The region that a short-lived key is for; None where it does not tell."""
    if not token.startswith(PREFIX):
        return None
    try:
        signed = base64.b64decode(token.removeprefix(PREFIX), validate=True).decode()
        scope = parse_qs(urlsplit(f"https://{signed}").query)["X-Amz-Credential"][0]
        return scope.split("/")[2]
    except (binascii.Error, UnicodeDecodeError, ValueError, KeyError, IndexError):
        return None


@dataclass
class KeyMaker:
    """Makes a key when the last one is ``RENEWED_SECONDS`` old; for many threads at once.

    Args:
        frozen: gives credentials that are valid now, renewing them where they can be; raises
            ConfigurationError where they have run out.
    """

    frozen: Callable[[], Any] = field(repr=False)
    region: str
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _token: str = field(default="", repr=False)
    _made: float = 0.0

    def __call__(self) -> str:
        """A key that is valid now.

        Raises:
            ConfigurationError: the credentials have run out.
        """
        with self._lock:
            if not self._token or self.clock() - self._made >= RENEWED_SECONDS:
                self._token, self._made = mint(self.frozen(), self.region), self.clock()
            return self._token
