"""Credentials of every kind, made at run time so that none stands in this project."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Mapping

LETTERS = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + "234567"


def drawn(seed: int, length: int, alphabet: str = LETTERS) -> str:
    """Random characters that are the same for the same seed and hold a digit and both cases."""
    generator = random.Random(seed)
    while True:
        text = "".join(generator.choice(alphabet) for _ in range(length))
        if alphabet != LETTERS or (
            any(c.isdigit() for c in text)
            and any(c.isupper() for c in text)
            and any(c.islower() for c in text)
        ):
            return text


def planted(seed: int = 1) -> Mapping[str, str]:
    """By kind, a text as it would be leaked; the secret itself is what ``value_in`` returns."""
    return {kind: text for kind, text, _ in _rows(seed)}


def values(seed: int = 1) -> Mapping[str, str]:
    """By kind, the part of the text that must not be left."""
    return {kind: value for kind, _, value in _rows(seed)}


def _rows(seed: int) -> list[tuple[str, str, str]]:
    def d(number: int, length: int, alphabet: str = LETTERS) -> str:
        return drawn(seed * 1000 + number, length, alphabet)

    hexadecimal = string.hexdigits[:16]
    body = "\n".join(d(200 + line, 64) for line in range(8))
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"
    header = (
        base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode().rstrip("=")
    )
    claims = (
        base64.urlsafe_b64encode(json.dumps({"sub": "u", "iat": 1700000000}).encode()).decode().rstrip("=")
    )
    basic = base64.b64encode(("u:" + d(59, 15)).encode()).decode()
    service_account = '{{"type": "service_account", "private_key": "{}"}}'
    plain = {
        "aws-access-key-id": "AKIA" + d(1, 16, UPPER),
        "github-token": "ghp_" + d(2, 36),
        "github-fine-grained-token": "github_pat_" + d(3, 22) + "_" + d(4, 59),
        "openai-key": "sk-proj-" + d(5, 48),
        "anthropic-key": "sk-ant-api03-" + d(6, 90) + "AA",
        "openrouter-key": "sk-or-v1-" + d(7, 64, hexadecimal),
        "google-api-key": "AIza" + d(8, 35),
        "google-oauth": "GOCSPX-" + d(9, 28),
        "slack-token": "xoxb-" + d(10, 12, string.digits) + "-" + d(11, 24),
        "stripe-key": "sk_live_" + d(12, 24),
        "npm-token": "npm_" + d(13, 36),
        "pypi-token": "pypi-AgEIcHlwaS5vcmc" + d(14, 70),
        "gitlab-token": "glpat-" + d(15, 20),
        "hugging-face-token": "hf_" + d(16, 34),
        "sendgrid-key": "SG." + d(17, 22) + "." + d(18, 43),
        "twilio-key": "SK" + d(19, 32, hexadecimal),
        "discord-bot-token": "M" + d(20, 23) + "." + d(21, 6) + "." + d(22, 38),
        "telegram-bot-token": d(23, 9, "123456789") + ":AA" + d(24, 33),
        "databricks-token": "dapi" + d(25, 32, hexadecimal),
        "digitalocean-token": "dop_v1_" + d(26, 64, hexadecimal),
        "azure-client-secret": d(27, 3) + "8Q~" + d(28, 34),
        "mailgun-key": "key-" + d(29, 32, hexadecimal),
        "shopify-token": "shpat_" + d(30, 32, hexadecimal),
        "docker-token": "dckr_pat_" + d(31, 27),
        "vault-token": "hvs." + d(32, 90),
        "grafana-token": "glsa_" + d(33, 32) + "_" + d(34, 8, hexadecimal),
        "linear-key": "lin_api_" + d(35, 40),
        "atlassian-token": "ATATT3" + d(36, 180),
        "replicate-token": "r8_" + d(37, 37),
        "groq-key": "gsk_" + d(38, 52),
        "xai-key": "xai-" + d(39, 80),
        "age-key": "AGE-SECRET-KEY-1" + d(40, 58, string.ascii_uppercase + string.digits),
        "json-web-token": f"{header}.{claims}.{d(41, 43)}",
        "high-entropy": d(42, 48),
    }
    rows = [(kind, value, value) for kind, value in plain.items()]
    placed = {
        "aws-secret-access-key": ("aws_secret_access_key = {}", d(50, 40)),
        "twilio-auth-token": ("TWILIO_AUTH: {}", d(51, 32, hexadecimal)),
        "azure-storage-key": ("AccountName=a;AccountKey={}==;EndpointSuffix=x", d(52, 86)),
        "azure-sas": ("https://a.blob.core.windows.net/c?sv=2024&sig={}%3D&se=1", d(53, 43)),
        "slack-webhook": (
            "https://hooks.slack.com/services/T" + d(54, 8, UPPER) + "/B" + d(55, 8, UPPER) + "/{}",
            d(56, 24),
        ),
        "discord-webhook": ("https://discord.com/api/webhooks/123456789/{}", d(57, 68)),
        "basic-auth-url": ("postgres://app:{}@db.internal:5432/x", d(58, 18)),
        "basic-auth-header": ("Authorization: Basic {}", basic),
        "bearer-header": ('"authorization": "Bearer {}"', d(60, 30)),
        "assigned-secret": ('password = "{}"', d(61, 20)),
        "private-key": ("{}", pem),
        "gcp-service-account": (
            service_account,
            pem.replace("\n", "\\n"),
        ),
    }
    return rows + [(kind, form.format(value), value) for kind, (form, value) in placed.items()]
