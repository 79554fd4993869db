"""Address and key of an endpoint, checked before anything is sent to it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from runner.errors import ConfigurationError
from runner.harnesses.endpoint import WireProtocol
from runner.records import require_variable_name

VERSION_PATH = "/v1"
WITHOUT_VERSION = frozenset({WireProtocol.MESSAGES, WireProtocol.GENERATE_CONTENT})


def checked_base_url(text: str | None) -> str:
    """``text`` as a base URL without a final slash.

    Raises:
        ConfigurationError: it is missing, not http or https, has no host, or holds credentials.
    """
    if not text:
        raise ConfigurationError(
            "provider endpoint needs a base URL", remedy="give --endpoint http://host:port/v1"
        )
    try:
        parts = urlsplit(text.strip())
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError as error:
        raise ConfigurationError(f"the base URL is malformed: {error}") from None
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            "the base URL holds credentials, which would end up in records",
            remedy="take them out and name the key's environment variable with --api-key-env",
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        raise ConfigurationError(
            "the base URL must be http or https with a host", where=text, remedy="as in http://host:port/v1"
        )
    if parts.query or parts.fragment:
        raise ConfigurationError(
            "the base URL must end with its path",
            where=text.split("?")[0],
            remedy="as in http://host:port/v1",
        )
    return text.strip().rstrip("/")


def root_for(base_url: str, protocol: WireProtocol) -> str:
    """``base_url`` as the clients of ``protocol`` expect it.

    Those of Messages and generateContent add the version themselves, so a final ``/v1`` is taken off.
    """
    return base_url.removesuffix(VERSION_PATH) if protocol in WITHOUT_VERSION else base_url


def api_key(variable: str | None, environment: Mapping[str, str]) -> str:
    """The key in the environment variable; empty where no variable is named.

    Raises:
        ConfigurationError: ``variable`` is no name, is not set, or holds what no key can be; the value is
            never shown.
    """
    if variable is None:
        return ""
    require_variable_name(variable)
    key = environment.get(variable, "").strip()
    if not key:
        raise ConfigurationError(
            f"the environment variable {variable} is not set or empty", remedy=f"export {variable}=..."
        )
    if not key.isprintable() or not key.isascii():
        raise ConfigurationError(
            f"the environment variable {variable} holds characters that no key has",
            remedy="set it again without line breaks",
        )
    return key
