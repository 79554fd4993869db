"""The recorded output of real agents, as files that a harness can read."""

from __future__ import annotations

import json
from pathlib import Path

from runner.harnesses.base import Assignment
from runner.harnesses.endpoint import Endpoint, WireProtocol
from runner.records import Limits, Usage

SAMPLES = Path(__file__).parent.parent / "data" / "agent-samples"
KEY = "sample-key-0123456789"


def lines(name: str) -> list[bytes]:
    """The lines of a sample, each with its end."""
    return SAMPLES.joinpath(name).read_bytes().splitlines(keepends=True)


def case(name: str, wanted: str) -> list[bytes]:
    """The lines of one case in a sample of cases."""
    found = [entry["line"] for entry in map(json.loads, lines(name)) if entry["case"] == wanted]
    assert found, f"{name} has no case {wanted}"
    return [json.dumps(line).encode() + b"\n" for line in found]


def rows(name: str) -> list[dict[str, object]]:
    """The lines of a sample as objects."""
    return [json.loads(line) for line in lines(name)]


def put_transcripts(configuration: Path) -> None:
    """The recorded transcripts of claude-code, in the folders where the agent leaves them."""
    project = configuration / "projects" / "-workspace"
    for entry in map(json.loads, lines("claude-transcript.jsonl")):
        name = entry["file"].replace("<session>", "session-1").replace("<ID>", "1")
        path = project / name if "/" not in name else project / "session-1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry["line"]) + "\n")


def put_rollouts(configuration: Path) -> list[Path]:
    """The recorded rollout files of codex: the main thread's and its child's."""
    folder = configuration / "sessions" / "2026" / "01" / "02"
    folder.mkdir(parents=True)
    paths: list[Path] = []
    for line in lines("codex-rollout.jsonl"):
        if json.loads(line)["type"] == "session_meta":
            paths.append(folder / f"rollout-{len(paths)}.jsonl")
        with paths[-1].open("ab") as stream:
            stream.write(line)
    return paths


def assignment(folder: Path, protocol: WireProtocol, *, limits: Limits | None = None) -> Assignment:
    """An assignment whose folders lie below ``folder``."""
    for name in ("workspace", "artifacts", "home"):
        (folder / name).mkdir(exist_ok=True)
    return Assignment(
        prompt="Do it.",
        workspace=folder / "workspace",
        artifacts=folder / "artifacts",
        home=folder / "home",
        endpoint=Endpoint("http://127.0.0.1:9/v1", protocol, "vendor/model:1", KEY, context_window=100_000),
        limits=limits or Limits(),
        installed=folder / "installed",
    )


def classes(usage: Usage | None) -> tuple[int | None, ...] | None:
    """Input, cache read, cache write, output, reasoning."""
    if usage is None:
        return None
    return (
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    )
