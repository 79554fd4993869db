"""Peers: other load generators, run as they come on the same server, each in an environment of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.errors import EndpointError

PROMPTS = 64
LONGEST_SECONDS = 900.0
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Job:
    """What a program is asked to do, and where it may write."""

    base_url: str
    """Ends with ``/v1``."""
    streams: int
    requests: int
    prompts: Path
    """JSON lines with the key ``prompt``."""
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
    return program.resolve(strict=False) if program.is_file() else None


def run_peer(peer: Peer, program: Path, base_url: str, streams: int, requests: int) -> PeerRun:
    """Let ``program`` make ``requests`` over ``streams`` and read what it measured.

    Raises:
        EndpointError: it failed, took too long, or wrote nothing that could be read.
    """
    with tempfile.TemporaryDirectory(prefix=f"{peer.name}-") as made:
        folder = Path(made)
        prompts = folder / "prompts.jsonl"
        lines = [
            json.dumps({"prompt": f"beat {number}", "text": f"beat {number}"}) for number in range(PROMPTS)
        ]
        prompts.write_text("\n".join(lines) + "\n", encoding="utf-8")
        job = Job(base_url, streams, requests, prompts, folder)
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": made, "TMPDIR": made, **OFFLINE}
        before = _spent()
        try:
            done = subprocess.run(
                [str(program), *peer.arguments(job)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST_SECONDS,
                check=False,
            )
            ttfts = tuple(peer.ttfts_ms(folder))
        except subprocess.TimeoutExpired:
            raise EndpointError(f"{peer.name} took more than {LONGEST_SECONDS:.0f} s") from None
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise EndpointError(f"{peer.name} left no report: {type(error).__name__}: {error}") from None
        spent = _spent() - before
    if not ttfts:
        raise EndpointError(f"{peer.name} measured nothing: {(done.stderr or done.stdout).strip()[-300:]}")
    return PeerRun(ttfts, spent)


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
        "builtin",
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
    Peer("guidellm", _guidellm, _guidellm_ttfts),
    Peer("aiperf", _aiperf, _aiperf_ttfts),
)
