"""Job: the document that tells the agent what to do, as it arrives on standard input."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

FORMAT = 1


class JobFault(ValueError):
    """The document on standard input is not a job."""


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    """None: cached input costs as much as fresh input."""


@dataclass(frozen=True)
class Patience:
    """How long to wait and how often to try again."""

    attempts: int = 6
    """Requests per turn, the first one included."""
    base_seconds: float = 0.5
    """Wait before the first retry; doubles with each."""
    cap_seconds: float = 30.0
    """No wait is longer than this, whatever Retry-After says."""
    silence_seconds: float = 180.0
    """A model that sends nothing for so long is given up for this request."""


@dataclass(frozen=True)
class Bounds:
    """Limits of the run; None is no limit."""

    turns: int | None = None
    tokens: int | None = None
    """Input and output tokens over all turns."""
    answer_tokens: int | None = None
    """Output tokens of one answer, asked of the server."""
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Job:
    """Everything the agent needs but the key, which comes by an environment variable."""

    prompt: str
    workspace: Path
    artifacts: Path
    base_url: str
    model: str
    context_window: int | None = None
    key_variable: str = "HARNESSMARK_API_KEY"
    bounds: Bounds = field(default_factory=Bounds)
    patience: Patience = field(default_factory=Patience)
    prices: Prices | None = None


def write_job(job: Job) -> bytes:
    """``job`` as a JSON document."""
    document = {"format": FORMAT, **asdict(job)}
    document |= {"workspace": str(job.workspace), "artifacts": str(job.artifacts)}
    return json.dumps(document).encode()


def read_job(data: bytes) -> Job:
    """The job in ``data``.

    Raises:
        JobFault: it is no job of this format.
    """
    try:
        document = json.loads(data)
        if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
            raise JobFault(f"standard input holds no job of format {FORMAT}")
        prices = document.pop("prices")
        return Job(
            workspace=Path(document.pop("workspace")),
            artifacts=Path(document.pop("artifacts")),
            bounds=Bounds(**document.pop("bounds")),
            patience=Patience(**document.pop("patience")),
            prices=Prices(**prices) if prices else None,
            **{key: value for key, value in document.items() if key in {f.name for f in fields(Job)}},
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise JobFault(f"standard input holds no job: {error}") from None
