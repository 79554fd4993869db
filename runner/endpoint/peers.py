"""Peers: other load generators, run as they come on the same server, each in an environment of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import EndpointError

MOST_PROMPTS = 10_000
LONGEST_SECONDS = 900.0
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "pre_tokenizer": {"type": "Whitespace"},
    "model": {"type": "WordLevel", "vocab": {"beat": 0, "[UNK]": 1}, "unk_token": "[UNK]"},
}
"""Programs that insist on counting tokens themselves get one that needs no network."""
TOKENIZER_CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}


@dataclass(frozen=True)
class Job:
    """What a program is asked to do, and where it may write."""

    base_url: str
    """Ends with ``/v1``."""
    streams: int
    requests: int
    prompts: Path
    """JSON lines with the key ``text``."""
    folder: Path

    @property
    def origin(self) -> str:
        """The address without ``/v1``."""
        return self.base_url.removesuffix("/v1")


@dataclass(frozen=True)
class Peer:
    """One program: how it is called and where it puts its times to the first token."""

    name: str
    arguments: Callable[[Job], list[str]]
    ttfts_ms: Callable[[Path], Iterator[float]]
    environment: Mapping[str, str] = field(default_factory=dict)

    def recipe(self, folder: Path) -> str:
        """How to install it."""
        home = folder / self.name
        return f"python -m venv {home} && {home}/bin/pip install {self.name}"


@dataclass(frozen=True)
class PeerRun:
    """What a program reported, and what it cost, its own start and end included."""

    ttfts_ms: tuple[float, ...]
    cpu_seconds: float


def installed(peer: Peer, folder: Path) -> Path | None:
    """The program of ``peer`` below ``folder``; None: not there."""
    program = folder / peer.name / "bin" / peer.name
    return program.absolute() if program.is_file() else None


def run_peer(peer: Peer, program: Path, base_url: str, streams: int, requests: int) -> PeerRun:
    """Let ``program`` make ``requests`` over ``streams`` and read what it measured.

    Raises:
        EndpointError: it failed, took too long, or wrote nothing that could be read.
    """
    with tempfile.TemporaryDirectory(prefix=f"{peer.name}-") as made:
        job = _prepare(Path(made), base_url, streams, requests)
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": made, "TMPDIR": made}
        before = _spent()
        try:
            done = subprocess.run(
                [str(program), *peer.arguments(job)],
                cwd=made,
                env=environment | dict(peer.environment),
                capture_output=True,
                text=True,
                timeout=LONGEST_SECONDS,
                check=False,
            )
            ttfts = tuple(peer.ttfts_ms(job.folder))
        except subprocess.TimeoutExpired:
            raise EndpointError(f"{peer.name} took more than {LONGEST_SECONDS:.0f} s") from None
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise EndpointError(f"{peer.name} left no report: {type(error).__name__}: {error}") from None
        spent = _spent() - before
    if not ttfts:
        raise EndpointError(f"{peer.name} measured nothing: {(done.stderr or done.stdout).strip()[-300:]}")
    return PeerRun(ttfts, spent)


def _prepare(folder: Path, base_url: str, streams: int, requests: int) -> Job:
    prompts, tokenizer = folder / "prompts.jsonl", folder / "tokenizer"
    tokenizer.mkdir()
    (tokenizer / "tokenizer.json").write_text(json.dumps(TOKENIZER), encoding="utf-8")
    (tokenizer / "tokenizer_config.json").write_text(json.dumps(TOKENIZER_CONFIG), encoding="utf-8")
    lines = [json.dumps({"text": f"beat {number}"}) for number in range(min(requests, MOST_PROMPTS))]
    prompts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Job(base_url, streams, requests, prompts, folder)


def _spent() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _guidellm(job: Job) -> list[str]:
    return [
        "run",
        "--backend",
        f"kind=openai_http,target={job.origin},model=metronome",
        "--profile",
        f"kind=concurrent,streams={job.streams}",
        "--constraint",
        f"kind=max_requests,count={job.requests}",
        "--data",
        f"kind=json_file,path={job.prompts}",
        "--output",
        f"kind=json,path={job.folder / 'report.json'}",
        "--disable-console",
    ]


def _guidellm_ttfts(folder: Path) -> Iterator[float]:
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for request in report["benchmarks"][0]["requests"]["successful"]:
        if request["time_to_first_token_ms"] is not None:
            yield float(request["time_to_first_token_ms"])


def _aiperf(job: Job) -> list[str]:
    return [
        "profile",
        "--model",
        "metronome",
        "--url",
        job.origin,
        "--endpoint-type",
        "chat",
        "--streaming",
        "--concurrency",
        str(job.streams),
        "--request-count",
        str(job.requests),
        "--use-server-token-count",
        "--tokenizer",
        str(job.folder / "tokenizer"),
        "--input-file",
        str(job.prompts),
        "--custom-dataset-type",
        "single_turn",
        "--ui",
        "none",
        "--output-artifact-dir",
        str(job.folder / "artifacts"),
    ]


def _aiperf_ttfts(folder: Path) -> Iterator[float]:
    for path in sorted((folder / "artifacts").rglob("profile_export.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            measured = json.loads(line).get("metrics", {}).get("time_to_first_token")
            if measured is not None:
                yield float(measured["value"])


PEERS: tuple[Peer, ...] = (
    Peer("guidellm", _guidellm, _guidellm_ttfts, {"HF_HUB_OFFLINE": "1"}),
    Peer("aiperf", _aiperf, _aiperf_ttfts),
)
