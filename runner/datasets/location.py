"""Locations a dataset may name: repositories, refs, web addresses, files beside it."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from urllib.parse import SplitResult, urlsplit

_HOST = re.compile(r"(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_SCP_FORM = re.compile(r"([A-Za-z0-9][\w.-]*)@([A-Za-z0-9][A-Za-z0-9.-]*):([\w.~][\w./~-]*)")
_REF = re.compile(r"[A-Za-z0-9_][\w./+@#-]*")
COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
MAX_LENGTH = 1000


class RepositoryKind(StrEnum):
    """How a repository is reached."""

    HTTPS = "https"
    SSH = "ssh"
    BUNDLE = "bundle"
    LOCAL = "local"


def repository_kind(repo: str) -> RepositoryKind:
    """Kind of a repository that :func:`check_repository` let pass."""
    if repo.startswith("https://"):
        return RepositoryKind.HTTPS
    if repo.startswith("ssh://") or _SCP_FORM.fullmatch(repo):
        return RepositoryKind.SSH
    if repo.endswith(".bundle"):
        return RepositoryKind.BUNDLE
    return RepositoryKind.LOCAL


def repository_name(repo: str) -> str:
    """Last part of the address without a trailing slash, ``.git`` or ``.bundle``."""
    last = re.split(r"[/:]", repo.rstrip("/"))[-1]
    return last.removesuffix(".git").removesuffix(".bundle")


def check_repository(repo: str) -> str:
    """``repo`` if it is an https or ssh address, a path, or a bundle beside the file.

    Raises:
        ValueError: it is none of these, carries a password, or could be read as an option by git.
    """
    _check_text(repo)
    if repo.startswith("-"):
        raise ValueError("a repository cannot begin with a dash")
    if "://" in repo:
        parts = _split(repo)
        if parts.scheme not in {"https", "ssh"}:
            raise ValueError(f"{parts.scheme}:// is not supported; use https://, ssh:// or a path")
        if parts.password or (parts.username and parts.scheme == "https"):
            raise ValueError("the address carries credentials; use a key in your ssh agent instead")
        if parts.username and not re.fullmatch(r"[A-Za-z0-9][\w.-]*", parts.username):
            raise ValueError("the user name in the address is not one")
        if parts.query or parts.fragment or parts.path.strip("/") == "":
            raise ValueError("the address must name a repository and nothing after it")
        return repo
    if "::" in repo:
        raise ValueError("transport helpers (name::address) are not allowed")
    if _SCP_FORM.fullmatch(repo):
        return repo
    if repo.endswith(".bundle"):
        return check_relative(repo)
    if not repo.startswith(("/", "./", "../", "~/")):
        raise ValueError(
            "expected https://, ssh://, a .bundle file, or a path that begins with /, ./, ../ or ~/"
        )
    return repo


def check_web_address(address: str) -> str:
    """``address`` if it is an absolute https or http address without credentials.

    Raises:
        ValueError: it is not.
    """
    _check_text(address)
    parts = _split(address)
    if parts.scheme not in {"https", "http"}:
        raise ValueError("expected an address that begins with https://")
    if parts.username or parts.password:
        raise ValueError("the address carries credentials; remove them")
    return address


def check_ref(ref: str) -> str:
    """``ref`` if git could use it as tag, branch or commit.

    Raises:
        ValueError: it could not.
    """
    _check_text(ref)
    strange = any(part in ref for part in ("..", "//", "/.", "@{")) or ref.endswith((".lock", "/", "."))
    if strange or not _REF.fullmatch(ref):
        raise ValueError("not a tag, branch or commit id")
    return ref


def check_relative(path: str) -> str:
    """``path`` if it is relative, in normal form, and stays below the folder of the dataset file.

    Raises:
        ValueError: it is absolute, leads outside, or is written in a roundabout way.
    """
    _check_text(path)
    parts = PurePosixPath(path).parts
    if path.startswith(("/", "~")) or "\\" in path or ".." in parts or not parts:
        raise ValueError("must be a path below the folder of the dataset file, with / between its parts")
    if str(PurePosixPath(path)) != path.rstrip("/") or any(part.startswith("-") for part in parts):
        raise ValueError("write the path in its plain form, such as folder/file")
    return path.rstrip("/")


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"not an address: {error}") from None
    if not parts.scheme or not parts.hostname or not _HOST.fullmatch(parts.hostname):
        raise ValueError("not an address: it needs a scheme and a host, as in https://example.org/name")
    return parts


def _check_text(text: str) -> None:
    if not text or len(text) > MAX_LENGTH or not text.isprintable() or text != text.strip() or " " in text:
        raise ValueError(f"must be 1 to {MAX_LENGTH} printable characters without spaces")
