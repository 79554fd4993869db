"""Policy: a page's content security policy; only the site's files and the theme's own inline scripts run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from runner.errors import PublishError

# The theme and Plotly set styles from scripts and in markup, so styles stay open; scripts do not.
# frame-ancestors and sandbox have no effect in a meta element, so they are not written.
_FIXED = (
    "default-src 'none'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
)
_ANCHOR = '<meta charset="utf-8">'
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_TEMPLATE_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
# What the theme writes into its scripts: the way from a page to the site's root.
_BASE_PATH = r"[A-Za-z0-9._~/-]*"
_THEME_FILES = ("base.html", "content.html", "palette.html", "announce.html")


@dataclass(frozen=True)
class InlineScripts:
    """The inline scripts that the installed theme writes; no other may stand in a page."""

    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def of_theme(cls, folder: Path | None = None) -> InlineScripts:
        """Read them from the theme's templates; ``folder`` holds its ``partials/javascripts``.

        Raises:
            PublishError: the theme is not installed, or has none, which means that it changed.
        """
        scripts = _theme_folder() if folder is None else folder
        found = [
            _pattern(text)
            for name in _THEME_FILES
            if (scripts / name).is_file()
            for text in _SCRIPT.findall((scripts / name).read_text(encoding="utf-8"))
        ]
        if not found:
            raise PublishError(
                "the theme's inline scripts were not found",
                where=str(scripts),
                remedy="install the version of mkdocs-material that constraints.txt names",
            )
        return cls(tuple(found))

    def known(self, text: str) -> bool:
        """Whether ``text`` is one of the theme's scripts, byte for byte but for the way to the root."""
        return any(pattern.fullmatch(text) for pattern in self.patterns)


def content_security_policy(scripts: Iterable[str]) -> str:
    """The policy of a page whose inline scripts are ``scripts``; each is allowed by its SHA-256.

    Source: https://www.w3.org/TR/CSP3/
    """
    digests = sorted({base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts})
    allowed = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)])
    return "; ".join([_FIXED[0], f"script-src {allowed}", *_FIXED[1:]])


def with_policy(html: str, scripts: Sequence[str]) -> str:
    """``html`` with its policy in the head, before anything that the policy governs.

    Raises:
        PublishError: the page has no head as the theme writes it.
    """
    head, anchor, rest = html.partition(_ANCHOR)
    if not anchor:
        raise PublishError(
            "a page has no head to carry its content security policy",
            where=html[:80],
            remedy="let the theme write the page; other files need another ending than .html",
        )
    policy = content_security_policy(scripts)
    return f'{head}{anchor}<meta http-equiv="Content-Security-Policy" content="{policy}">{rest}'


def _theme_folder() -> Path:
    spec = find_spec("material")
    if spec is None or spec.origin is None:
        raise PublishError(
            "the site's theme is not installed",
            where="mkdocs-material",
            remedy="install the package's requirements again: pip install mkdocs-material",
        )
    return Path(spec.origin).parent / "templates" / "partials" / "javascripts"


def _pattern(template: str) -> re.Pattern[str]:
    fixed = [re.escape(part) for part in _TEMPLATE_VALUE.split(template)]
    return re.compile(_BASE_PATH.join(fixed))
