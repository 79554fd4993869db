"""The scanner finds what must not be written, in every spelling, and leaves everything else alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import random
import subprocess
import time
import uuid
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ConfigurationError
from runner.secrets import MASK, Scanner, known_secrets, read_allowed
from runner.secrets.patterns import KINDS
from runner.secrets.scanner import CHUNK
from tests.secrets.planted import drawn, planted, values

PROJECT = Path(__file__).parent.parent.parent
PLAIN = Scanner({})
KEY = "q7+Zk/" + drawn(7, 30) + "=w"


@pytest.mark.parametrize("kind", sorted(planted()))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_planted_secret_is_found_by_its_kind_and_masked(kind: str, seed: int) -> None:
    text, value = planted(seed)[kind], values(seed)[kind]
    around = f"before it\n+  leaked: {text}\nafter it"
    hits = PLAIN.find(around.encode())
    assert kind in {hit.kind for hit in hits}
    masked = PLAIN.mask(around)
    body = value.split("\n")[1] if "\n" in value else value.removesuffix("=")
    assert body not in masked
    assert masked.startswith("before it\n")
    assert masked.endswith("after it")
    assert value not in repr(hits) + "".join(hit.line() for hit in hits)


def test_every_kind_is_planted_and_there_are_more_than_twenty() -> None:
    assert {kind.name for kind in KINDS} | {"high-entropy"} == set(planted())
    assert len(planted()) > 20


@pytest.mark.parametrize("kind", sorted(planted()))
def test_a_planted_secret_is_found_inside_a_json_line_too(kind: str) -> None:
    line = json.dumps({"type": "assistant", "text": f"the file holds\n{planted()[kind]}\n"})
    assert PLAIN.find(line.encode())


@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        json.dumps(KEY),
        json.dumps(json.dumps({"k": KEY})),
        quote(KEY),
        quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.b64encode(f"ab{KEY}!".encode()).decode(),
        base64.urlsafe_b64encode(f"a{KEY}".encode()).decode(),
        binascii.hexlify(KEY.encode()).decode(),
        KEY[:9] + "\n" + KEY[9:],
        KEY[:9] + "\\n" + KEY[9:20] + "\\r\\n    " + KEY[20:],
        f'+key = "{KEY[:12]}"\n+      "{KEY[12:]}"',
        "\n".join(KEY[at : at + 8] for at in range(0, len(KEY), 8)),
    ],
)
def test_a_known_secret_is_found_in_every_spelling(spelled: str) -> None:
    scanner = Scanner({"MY_KEY": KEY})
    text = f"x {spelled} y"
    assert "known secret MY_KEY" in {hit.kind for hit in scanner.find(text.encode())}
    masked = scanner.mask(text)
    assert MASK in masked
    assert len(masked) < len(text)
    assert KEY not in repr(scanner) + masked


HYPHENS = "sk-live-q7Zk-9fT2+x4Wb-M1"


@pytest.mark.parametrize("at", range(1, len(HYPHENS)))
@pytest.mark.parametrize("between", ["\n", "\\n", "\r\n> ", '"\n+    "', "\\\\n  "])
def test_a_known_secret_broken_beside_any_of_its_characters_is_found(at: int, between: str) -> None:
    text = f"x {HYPHENS[:at]}{between}{HYPHENS[at:]} y"
    masked = Scanner({"MY_KEY": HYPHENS}).mask(text)
    assert masked == f"x {MASK} y"


@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("before", range(0, 60, 7))
def test_a_known_secret_in_a_file_that_was_encoded_over_several_lines_is_found(
    width: int, before: int
) -> None:
    content = b"x" * before + f"\nMY_KEY={KEY}\n".encode() + b"y" * 80
    for encoded in (base64.b64encode(content), binascii.hexlify(content)):
        lines = [encoded[at : at + width] for at in range(0, len(encoded), width)]
        kinds = {hit.kind for hit in Scanner({"MY_KEY": KEY}).find(b"\n".join(lines))}
        assert "known secret MY_KEY" in kinds


def test_words_that_only_resemble_a_known_secret_are_left_alone() -> None:
    scanner = Scanner({"PASSWORD": "correct-horse-battery"})
    for text in ("correct horse battery", "correct, horse\nbattery", "correct-horse battery"):
        assert scanner.find(text.encode()) == [], text


RUNS = {
    "backslashes": b"\\",
    "quotes": b'"',
    "commas": b",",
    "plus signs": b"+",
    "escaped line breaks": b"\\\\n",
    "line breaks and signs": b"\n+",
    "beginnings of a key": b"-----BEGIN RSA PRIVATE KEY-----\n",
    "beginnings of a known secret": KEY[:9].encode() + b"\\" * 50,
}


@pytest.mark.parametrize("name", RUNS)
def test_a_long_run_of_one_sign_takes_no_longer_than_other_text(name: str) -> None:
    scanner, size = Scanner({"MY_KEY": KEY}), 1_000_000
    data = RUNS[name] * (size // len(RUNS[name])) + KEY[:9].encode() + b"\n" + KEY[9:].encode()
    begun = time.process_time()
    assert any(hit.kind == "known secret MY_KEY" for hit in scanner.find(data))
    assert time.process_time() - begun < 10, "some of these once took hours"


def test_a_known_secret_with_any_characters_is_found_in_utf_8_and_utf_16() -> None:
    value = 'p\u00e4ss"w\u00f6rd\\ \U0001f511 and more'
    scanner = Scanner({"PASSWORD": value})
    for data in (value.encode(), json.dumps(value).encode(), value.encode("utf-16-le")):
        assert scanner.find(b"--" + data + b"--")


@given(
    st.text(st.characters(codec="utf-8"), max_size=200), st.text(st.characters(codec="utf-8"), max_size=200)
)
def test_a_known_secret_is_masked_wherever_it_stands(before: str, after: str) -> None:
    assert KEY not in Scanner({"K": KEY}).mask(before + KEY + after)


@given(st.binary(max_size=2000))
def test_what_holds_no_secret_stays_byte_for_byte(data: bytes) -> None:
    scanner = Scanner({"K": KEY})
    if not scanner.find(data):
        assert scanner.mask_bytes(data) == data


@given(st.text(max_size=300))
def test_masking_never_fails_and_keeps_text_that_is_no_secret(text: str) -> None:
    masked = Scanner({"K": KEY}).mask(text)
    assert masked == text or MASK in masked


COMMIT = hashlib.sha1(b"x").hexdigest()  # noqa: S324 - a commit id, no signature


@pytest.mark.parametrize(
    "text",
    [
        f"index {COMMIT[:7]}..{COMMIT[7:14]} 100644",
        f"commit {COMMIT}",
        f'"sha256": "{hashlib.sha256(b"1").hexdigest()}"',
        f"id {uuid.UUID(int=2**127 - 1)}",
        f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(b"1").digest()).decode()}"',
        f"golang.org/x/net v0.1.0 h1:{base64.b64encode(hashlib.sha256(b'1').digest()).decode()}",
        f"msg_01{drawn(1, 40)} toolu_01{drawn(2, 40)} chatcmpl-{drawn(3, 40)} call_{drawn(4, 32)}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{drawn(5, 43)} me@host",
        "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(300)).decode(),
        "src/Very/Long/PathName2/WithCamelCase/AndNumbers123/Inside/TheFile42.py",
        "test_that_a_Function_with_2_Arguments_returns_3_Values_for_Every_Input_of_10",
        "https://user:password@example.com/ and postgres://app:${DB_PASSWORD}@host/db",
        'password = os.environ["DATABASE_PASSWORD"]; api_key=settings.api_key, secret: str | None = None',
        "password: changeme-example-1 token = YOUR_TOKEN_HERE_1234 api_key='<your-api-key-1>'",
        "-----BEGIN PRIVATE KEY----- is how such a file begins",
        "max_tokens=16000 input_tokens: 123456789012 secret_key_base",
        "AKIAIOSFODNN7" + "EXAMPLE",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert PLAIN.find(text.encode()) == []


def test_a_certificate_and_other_encoded_files_are_left_alone() -> None:
    lines = base64.encodebytes(random.Random(3).randbytes(1200)).decode()
    certificate = f"-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n"
    patch = "".join("+" + line for line in certificate.splitlines(keepends=True))
    for text in (certificate, patch, json.dumps(certificate)):
        assert PLAIN.find(text.encode()) == [], text[:50]


def test_a_binary_patch_is_left_alone_and_what_follows_it_is_not(tmp_path: Path) -> None:
    def git(*arguments: str) -> bytes:
        return subprocess.run(
            ["git", "-c", "core.autocrlf=false", *arguments], cwd=tmp_path, capture_output=True, check=True
        ).stdout

    git("init", "-q")
    (tmp_path / "picture.bin").write_bytes(random.Random(4).randbytes(60_000))
    git("add", "-A")
    patch = git("diff", "--cached", "--binary")
    assert b"GIT binary patch" in patch
    assert PLAIN.find(patch) == []
    assert PLAIN.find(patch + b"\n+ " + planted()["high-entropy"].encode())


def test_the_committed_results_and_datasets_hold_no_secret() -> None:
    found = [
        f"{path.relative_to(PROJECT)}: {hit.line()}"
        for folder in ("results", "datasets", "runner", "site_src")
        for path in sorted((PROJECT / folder).rglob("*"))
        if path.is_file() and not {"demonstration", "private", "__pycache__"} & set(path.parts)
        for hit in PLAIN.find(path.read_bytes())
    ]
    assert found == []


def test_a_value_can_be_allowed_by_its_digest_and_a_known_one_cannot(tmp_path: Path) -> None:
    text = planted()["high-entropy"]
    [hit] = PLAIN.find(text.encode())
    path = tmp_path / "not-secret.txt"
    path.write_text(f"# tokens of the test suite\n{hit.digest} a fixture\n\n", encoding="utf-8")
    assert Scanner({}, allowed=read_allowed(path)).find(text.encode()) == []
    assert Scanner({"K": text}, allowed=read_allowed(path)).find(text.encode())
    path.write_text("one\n" + hit.digest + "\nthree\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="lines 1, 3"):
        read_allowed(path)
    assert read_allowed(tmp_path / "nothing") == frozenset()


def test_a_stream_is_masked_in_pieces_with_no_secret_lost_at_a_cut() -> None:
    scanner = Scanner({"MY_KEY": KEY})
    secret = planted()["github-token"]
    for shift in (-30, -3, 0, 2, 40_000):
        filler = (b"word and word again\n" * (CHUNK // 20 + 1))[: CHUNK + shift - 20] + b"\n"
        data = filler + secret.encode() + b" " + KEY.encode() + b"\n" + filler + KEY.encode()
        target = io.BytesIO()
        assert scanner.mask_stream(io.BytesIO(data), target) >= 3
        assert target.getvalue() == scanner.mask_bytes(data)
        assert target.getvalue().count(MASK.encode()) == 3


def test_a_stream_without_line_breaks_is_masked_too() -> None:
    data = b"x " * CHUNK + KEY.encode() + b" y" * 100
    target = io.BytesIO()
    Scanner({"MY_KEY": KEY}).mask_stream(io.BytesIO(data), target)
    assert target.getvalue() == b"x " * CHUNK + MASK.encode() + b" y" * 100


def test_secrets_of_an_environment_are_told_by_name_and_by_place() -> None:
    environment = {
        "OPENAI_API_KEY": drawn(1, 40),
        "GH_TOKEN": drawn(2, 20),
        "DB_PASSWORD": "correct horse 1",
        "DATABASE_URL": "postgres://app:" + quote("s3cr3t/pass", safe="") + "@h/db",
        "MY_SERVER": "short1",
        "MAX_TOKENS": "16000000000",
        "SSH_AUTH_SOCK": "/run/user/1000/agent.sock",
        "PWD": "/somewhere/long/enough",
        "KEYBOARD": "something-1",
        "TOKEN": "none",
        "API_KEY_FILE": "/etc/keys/file",
        "HOME": "/home/someone",
    }
    found = known_secrets(environment, ["MY_SERVER"])
    assert set(found) == {"OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "DATABASE_URL (password)", "MY_SERVER"}
    assert found["DATABASE_URL (password)"] == "s3cr3t/pass"
