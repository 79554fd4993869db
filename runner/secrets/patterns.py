"""Patterns: what credentials look like, one row per kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from runner.secrets.entropy import shannon_bits

WORDS_OF_NO_SECRET = re.compile(
    rb"example|dummy|placeholder|changeme|change-me|your|redacted|masked|sample|fake|xxxx|\*\*\*|\.\.\.|0000000"
    rb"|1234567|abcdefg|<|\$\{|\{\{|%s|needs-no-key",
    re.IGNORECASE,
)
GENERIC_BITS = 3.0


@dataclass(frozen=True)
class Kind:
    """One kind of credential. ``secret`` is the group of the pattern that holds the value itself."""

    name: str
    pattern: re.Pattern[bytes]
    hints: tuple[bytes, ...]
    """In lower case: what a match begins with, or with ``inside`` what it holds somewhere."""
    guess: bool = False
    """The place, not the shape, gives it away: the value must look random too."""
    inside: bool = False

    def matches(self, data: bytes, lowered: bytes) -> Iterator[re.Match[bytes]]:
        """Every match in ``data``; ``lowered`` is the same in lower case, searched first as that is fast."""
        if self.inside:
            if any(hint in lowered for hint in self.hints):
                yield from self.pattern.finditer(data)
            return
        for hint in self.hints:
            at = lowered.find(hint)
            while at >= 0:
                if match := self.pattern.match(data, at):
                    yield match
                at = lowered.find(hint, at + 1)


def _kind(name: str, pattern: bytes, *hints: bytes, guess: bool = False, inside: bool = False) -> Kind:
    return Kind(name, re.compile(pattern), hints, guess, inside)


_START = rb"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""No letter before, except that of an escaped line break."""
_END = rb"(?![A-Za-z0-9_-])"
_BODY = rb"(?:[A-Za-z0-9+/=,:. \t\r\n]|-(?!----)|\\{1,16}[rn])"
"""Never runs over the next line of dashes: else a file full of such lines is read again for each of them."""

KINDS: tuple[Kind, ...] = (
    _kind(
        "aws-access-key-id",
        _START + rb"((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})" + _END,
        b"akia",
        b"asia",
        b"abia",
        b"acca",
    ),
    _kind(
        "aws-secret-access-key",
        rb"(?i:aws[\w.-]{0,30}|secret[_ -]?access[_ -]?)key\W{0,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        b"aws",
        b"secret",
        guess=True,
    ),
    _kind(
        "github-token",
        _START + rb"(gh[pousr]_[A-Za-z0-9]{36,255})" + _END,
        b"ghp_",
        b"gho_",
        b"ghu_",
        b"ghs_",
        b"ghr_",
    ),
    _kind("github-fine-grained-token", _START + rb"(github_pat_[A-Za-z0-9_]{50,255})", b"github_pat_"),
    _kind("anthropic-key", _START + rb"(sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{20,})", b"sk-ant-"),
    _kind("openai-key", _START + rb"(sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,})", b"sk-"),
    _kind("openai-key", _START + rb"(sk-[A-Za-z0-9]{32,})" + _END, b"sk-"),
    _kind("openrouter-key", _START + rb"(sk-or-v1-[0-9a-f]{32,})", b"sk-or-"),
    _kind("google-api-key", _START + rb"(AIza[0-9A-Za-z_-]{35})" + _END, b"aiza"),
    _kind(
        "google-oauth", _START + rb"(GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,})", b"gocspx-", b"ya29."
    ),
    _kind("slack-token", _START + rb"((?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{16,})", b"xox", b"xapp-"),
    _kind(
        "slack-webhook",
        rb"hooks\.slack\.com/services/(T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,})",
        b"hooks.slack",
    ),
    _kind(
        "stripe-key", _START + rb"((?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,})", b"sk_", b"rk_", b"whsec_"
    ),
    _kind("npm-token", _START + rb"(npm_[A-Za-z0-9]{36})" + _END, b"npm_"),
    _kind("pypi-token", _START + rb"(pypi-AgE[A-Za-z0-9_-]{40,})", b"pypi-age"),
    _kind(
        "gitlab-token",
        _START + rb"(gl(?:pat|dt|rt|ptt|ft|soat|agent|cbt|imt|oas)-[A-Za-z0-9_.-]{20,})",
        b"gl",
    ),
    _kind("hugging-face-token", _START + rb"((?:hf|api_org)_[A-Za-z0-9]{30,})" + _END, b"hf_", b"api_org_"),
    _kind("sendgrid-key", _START + rb"(SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50})", b"sg."),
    _kind("twilio-key", _START + rb"(SK[0-9a-f]{32})" + _END, b"sk"),
    _kind("twilio-auth-token", rb"(?i:twilio)[^\r\n]{0,40}?" + _START + rb"([0-9a-f]{32})" + _END, b"twilio"),
    _kind(
        "azure-storage-key",
        rb"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,}={0,2})",
        b"sharedaccesskey=",
        b"accountkey=",
    ),
    _kind("azure-sas", rb"[?&;](?:amp;)?sig=([A-Za-z0-9%+/]{40,}(?:%3[Dd]|=))", b"sig=", inside=True),
    _kind(
        "azure-client-secret", _START + rb"([A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,37})", b"8q~", inside=True
    ),
    _kind("gcp-service-account", rb"private_key\\*\"\s*:\s*\\*\"(-----BEGIN[^\"]{60,10000})", b"private_key"),
    _kind(
        "private-key",
        rb"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        + _BODY
        + rb"{40,20000}(?:-?-----END [A-Z0-9 ]{0,40}-----)?)",
        b"-----begin",
    ),
    _kind(
        "json-web-token",
        _START + rb"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,})",
        b"eyj",
    ),
    _kind(
        "basic-auth-url",
        rb"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,80}:([^\s/:@\"'<>]{8,200})@[A-Za-z0-9.-]",
        b"://",
        guess=True,
        inside=True,
    ),
    _kind(
        "basic-auth-header",
        rb"(?i:authorization)\W{1,8}(?i:basic)\s+([A-Za-z0-9+/]{16,}={0,2})",
        b"authorization",
    ),
    _kind(
        "bearer-header",
        rb"(?i:authorization)\W{1,8}(?i:bearer)\s+([A-Za-z0-9._~+/-]{20,}=*)",
        b"authorization",
        guess=True,
    ),
    _kind(
        "discord-bot-token",
        _START + rb"([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})" + _END,
        b".",
        inside=True,
    ),
    _kind("discord-webhook", rb"discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]{50,})", b"discord"),
    _kind(
        "telegram-bot-token",
        _START + rb"([0-9]{8,10}:AA[A-Za-z0-9_-]{32,33})" + _END,
        b":aa",
        inside=True,
    ),
    _kind("databricks-token", _START + rb"(dapi[0-9a-f]{32}(?:-[0-9])?)" + _END, b"dapi"),
    _kind("digitalocean-token", _START + rb"(do[opr]_v1_[0-9a-f]{64})", b"dop_v1_", b"doo_v1_", b"dor_v1_"),
    _kind("mailgun-key", _START + rb"(key-[0-9a-f]{32})" + _END, b"key-"),
    _kind("shopify-token", _START + rb"(shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32})", b"shp"),
    _kind("docker-token", _START + rb"(dckr_pat_[A-Za-z0-9_-]{20,})", b"dckr_pat_"),
    _kind("vault-token", _START + rb"(hv[sbr]\.[A-Za-z0-9_-]{24,})", b"hvs.", b"hvb.", b"hvr."),
    _kind("grafana-token", _START + rb"(glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8})", b"glsa_"),
    _kind("linear-key", _START + rb"(lin_api_[A-Za-z0-9]{32,})", b"lin_api_"),
    _kind("atlassian-token", _START + rb"(ATATT3[A-Za-z0-9_=-]{60,})", b"atatt3"),
    _kind("replicate-token", _START + rb"(r8_[A-Za-z0-9]{37})" + _END, b"r8_"),
    _kind("groq-key", _START + rb"(gsk_[A-Za-z0-9]{40,})", b"gsk_"),
    _kind("xai-key", _START + rb"(xai-[A-Za-z0-9]{60,})", b"xai-"),
    _kind("age-key", rb"(AGE-SECRET-KEY-1[A-Z0-9]{50,})", b"age-secret-key-"),
    _kind(
        "assigned-secret",
        rb"(?i:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token"
        rb"|client[_-]?secret)[\"'\\]{0,4}\s{0,4}[:=]>?\s{0,4}[\"'\\]{0,4}([^\s\"'\\,;&()\[\]{}<>$]{10,200})",
        b"pass",
        b"pwd",
        b"secret",
        b"api",
        b"access",
        b"auth",
        b"client",
        guess=True,
    ),
)
"""Kinds by shape. A new one is one row; ``tests/secrets`` must plant it."""


def is_placeholder(kind: Kind, value: bytes) -> bool:
    """Whether a match is written as an example, or, for a guess, is no random value."""
    if WORDS_OF_NO_SECRET.search(value) or len(set(value)) < 6:
        return True
    if not kind.guess:
        return False
    mixed = any(48 <= each <= 57 for each in value) and any(chr(each).isalpha() for each in value)
    return not mixed or shannon_bits(value) < GENERIC_BITS
