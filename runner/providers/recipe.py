"""Recipe: how one model is served by a vLLM server of one's own, with the source of each fact."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from runner.records.base import Part, Slug

SCHEMA_VERSION = "1"
ADDRESS = "127.0.0.1"
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
OWN_OPTIONS = {
    "--api-key": "a key would stand in the list of processes; name its variable with --api-key-env",
    "--config": "what is in another file is not part of the recipe",
    "--dtype": "use dtype",
    "--enable-auto-tool-choice": "it goes with tool_call_parser",
    "--gpu-memory-utilization": "use gpu_memory_utilization",
    "--hf-token": "a token would stand in the list of processes; name HF_TOKEN in pass_environment",
    "--host": "a server of ours listens on the loopback address only",
    "--max-model-len": "use max_model_len",
    "--model": "use repository",
    "--port": "use port",
    "--reasoning-parser": "use reasoning_parser",
    "--revision": "use revision",
    "--served-model-name": "use served_names",
    "--tensor-parallel-size": "use tensor_parallel_size",
    "-tp": "use tensor_parallel_size",
    "--tool-call-parser": "use tool_call_parser",
    "--trust-remote-code": "use trust_remote_code",
}

Line = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]+$")]
ModelId = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$")
]
Repository = Annotated[
    str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$")
]
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
]
Variable = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{7,40}$")]


def _argument(text: str) -> str:
    given = text.partition("=")[0]
    # vLLM takes an underscore for a dash, and the beginning of an option for the whole.
    name = given.replace("_", "-")
    for own, instead in OWN_OPTIONS.items():
        if name == own or (name.startswith("--") and len(name) > 2 and own.startswith(name)):
            raise ValueError(f"{given} does not belong here: {instead}")
    return text


Argument = Annotated[Line, AfterValidator(_argument)]


class Source(Part):
    """Where facts of a recipe come from."""

    what: Line
    """Which facts."""
    repository: Annotated[str, StringConstraints(pattern=r"^https://[^\s@]+$")] | None = None
    commit: Commit | None = None
    path: Line | None = None
    license: Line | None = None


class Recipe(Part):
    """A recipe file. What is not known is left out."""

    schema_version: Literal["1"]
    name: Slug
    served_names: Annotated[tuple[ModelId, ...], Field(min_length=1)]
    """What clients may call the model; the first is its id."""
    repository: Repository
    """Of the weights, on the hub that vLLM loads from."""
    revision: Word | None = None
    max_model_len: Annotated[int, Field(gt=0)]
    tool_call_parser: Word | None = None
    reasoning_parser: Word | None = None
    tensor_parallel_size: Annotated[int, Field(ge=1, le=64)] = 1
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    dtype: Literal["auto", "bfloat16", "float16", "float32", "half", "float"] | None = None
    precision: Line | None = None
    """For the record, as the results spell it."""
    trust_remote_code: bool = False
    """Lets the repository's own Python run inside the server."""
    extra_arguments: tuple[Argument, ...] = ()
    environment: dict[Variable, Line] = Field(default_factory=dict)
    """Variables of the server that are no secrets."""
    pass_environment: tuple[Variable, ...] = ()
    """Names of the user's variables that the server may see, such as HF_TOKEN."""
    instance_type: Line | None = None
    """The machine that it was meant for."""
    minimum_vllm: Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+){1,2}$")] | None = None
    port: Annotated[int, Field(ge=1024, le=65535)] = 8000
    start_minutes: Annotated[float, Field(gt=0, le=24 * 60)] = 60
    """How long the first start may take, download of the weights included."""
    notes: tuple[Line, ...] = ()
    source: Annotated[tuple[Source, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _no_secrets(self) -> Recipe:
        named = sorted(name for name in self.environment if SECRET_NAME.search(name))
        if named:
            raise ValueError(
                f"environment: {', '.join(named)} looks like a secret; name it in pass_environment instead"
            )
        return self

    @property
    def base_url(self) -> str:
        """Where the server answers."""
        return f"http://{ADDRESS}:{self.port}/v1"

    def command(self, program: str) -> tuple[str, ...]:
        """What starts the server: an argument list that no shell reads, without any secret."""
        optional: list[tuple[str, object | None]] = [
            ("--revision", self.revision),
            # The code and the tokenizer of a repository are pinned with its weights.
            ("--code-revision", self.revision if self.trust_remote_code else None),
            ("--tokenizer-revision", self.revision),
            ("--gpu-memory-utilization", self.gpu_memory_utilization),
            ("--dtype", self.dtype),
            ("--tool-call-parser", self.tool_call_parser),
            ("--reasoning-parser", self.reasoning_parser),
        ]
        return (
            *(program, "serve", self.repository, "--host", ADDRESS, "--port", str(self.port)),
            *("--served-model-name", *self.served_names),
            *("--max-model-len", str(self.max_model_len)),
            *("--tensor-parallel-size", str(self.tensor_parallel_size)),
            *(part for name, value in optional if value is not None for part in (name, str(value))),
            *(("--enable-auto-tool-choice",) if self.tool_call_parser else ()),
            # Without the second a server that reads from its cache tells nobody how much it read.
            *("--enable-prefix-caching", "--enable-prompt-tokens-details"),
            *(("--trust-remote-code",) if self.trust_remote_code else ()),
            *self.extra_arguments,
        )
