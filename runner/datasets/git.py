"""Git: the one way a git process is started, cut off from the machine's settings and from prompts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.errors import ConfigurationError, RepositoryError

SETTINGS = (
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.untrackedCache=false",
    "core.commitGraph=false",
    "credential.helper=",
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=main",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "fetch.writeCommitGraph=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "pack.threads=1",
)
"""Given on every command line, where they beat the configuration of any repository."""

PASSED_ON = (
    "PATH",
    "HOME",
    "SSH_AUTH_SOCK",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "GIT_SSL_CAINFO",
)
"""What of our own environment git needs to reach a remote; HOME is for the keys of ssh and for .netrc."""

LOCAL_TIMEOUT = 300.0
REMOTE_TIMEOUT = 1800.0


@dataclass(frozen=True)
class GitResult:
    """How a git process ended."""

    exit_code: int
    stdout: bytes
    stderr: str


def run_git(
    *arguments: str,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    cwd: Path | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = LOCAL_TIMEOUT,
) -> GitResult:
    """Run git once. A non-zero exit is for the caller to judge.

    Raises:
        ConfigurationError: git is not installed.
        RepositoryError: the time is up.
    """
    command = _command(arguments, git_dir, work_tree)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**_environment(), **(environment or {})},
            start_new_session=True,
        )
    except FileNotFoundError:
        raise ConfigurationError(
            "git could not be started",
            where=" ".join(arguments[:2]),
            remedy="install git 2.34 or newer and put it on PATH",
        ) from None
    try:
        stdout, stderr = process.communicate(stdin, timeout_seconds)
    except subprocess.TimeoutExpired:
        raise RepositoryError(
            f"git did not finish within {timeout_seconds:.0f} seconds",
            where=" ".join(arguments[:2]),
            remedy="check the network and the size of the repository, then try again",
        ) from None
    finally:
        if process.returncode is None:
            _kill(process)
    return GitResult(process.returncode, stdout, stderr.decode("utf-8", "replace"))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git with the helpers that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def must_git(
    *arguments: str,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    cwd: Path | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Standard output of a local git command that has no reason to fail.

    Raises:
        RepositoryError: it failed all the same.
    """
    done = run_git(
        *arguments, git_dir=git_dir, work_tree=work_tree, cwd=cwd, stdin=stdin, environment=environment
    )
    if done.exit_code != 0:
        raise RepositoryError(
            f"git {arguments[0]} failed: {last_line(done.stderr)}",
            where=str(git_dir or cwd or ""),
            remedy="check free space and rights; where the cache is damaged, delete it and run again",
        )
    return done.stdout


def telling_lines(text: str) -> list[str]:
    """The lines of git's messages that say why: those with ``fatal`` or ``error``, else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [line for line in lines if line.startswith(("fatal:", "error:"))] or lines[-1:] or ["no message"]


def last_line(text: str, limit: int = 300) -> str:
    """The last of the telling lines."""
    return telling_lines(text)[-1][:limit]


def _command(arguments: Sequence[str], git_dir: Path | None, work_tree: Path | None) -> list[str]:
    command = ["git"]
    for setting in SETTINGS:
        command += ["-c", setting]
    if git_dir is not None:
        command.append(f"--git-dir={git_dir}")
    if work_tree is not None:
        command.append(f"--work-tree={work_tree}")
    return [*command, *arguments]


def _environment() -> dict[str, str]:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    if "SSL_CERT_FILE" in os.environ:
        environment.setdefault("GIT_SSL_CAINFO", os.environ["SSL_CERT_FILE"])
    return {
        **environment,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=20",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_AUTHOR_NAME": "Harnessmark",
        "GIT_AUTHOR_EMAIL": "harnessmark@harnessmark.invalid",
        "GIT_AUTHOR_DATE": "2000-01-01T00:00:00+00:00",
        "GIT_COMMITTER_NAME": "Harnessmark",
        "GIT_COMMITTER_EMAIL": "harnessmark@harnessmark.invalid",
        "GIT_COMMITTER_DATE": "2000-01-01T00:00:00+00:00",
        "LC_ALL": "C",
        "TZ": "UTC",
    }
