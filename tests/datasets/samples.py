"""Samples: dataset files and git repositories made for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.datasets import SealedCheckout, seal
from runner.datasets.git import must_git

VALID = """\
schema_version: "1.1"
name: sample
title: A sample
description: Two tasks.
version: "1"
visibility: public
default_ref: v1
metrics: [checks]
complexity_levels: [low, high]
tasks:
  - id: first
    repo: https://example.org/team/project
    complexity: low
    problem_statement: Do it.
  - id: second
    repo: https://example.org/team/project.git
    ref: v2
    complexity: high
    problem_issue_url: https://example.org/issues/2
"""


def write_dataset(folder: Path, text: str = VALID, name: str = "sample.yaml") -> Path:
    """A dataset file with ``text``."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Repository:
    """A real git repository on disk."""

    path: Path

    def commit(self, files: Mapping[str, bytes | None], message: str = "change") -> str:
        """Commit ``files`` (None deletes one) and return the id."""
        for name, content in files.items():
            target = self.path / name
            if content is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        must_git("add", "--all", cwd=self.path)
        must_git("commit", "--quiet", "--allow-empty", "--message", message, cwd=self.path)
        return must_git("rev-parse", "HEAD", cwd=self.path).decode().strip()

    def git(self, *arguments: str) -> str:
        """Output of a git command in it."""
        return must_git(*arguments, cwd=self.path).decode()


def new_repository(path: Path) -> Repository:
    """An empty repository."""
    path.mkdir(parents=True)
    must_git("init", "--quiet", "--template=", cwd=path)
    return Repository(path)


def sealed(repository: Repository, folder: Path, ref: str = "main") -> SealedCheckout:
    """A checkout of ``repository`` below ``folder``; one cache for all checkouts of it."""
    return seal(
        str(repository.path),
        ref,
        beside=folder,
        cache=repository.path.parent / "cache",
        workspace=folder / "workspace",
        git_dir=folder / "trusted.git",
    )


def plain_git(workspace: Path, *arguments: str) -> str:
    """Git as the agent would call it in its workspace, without the machine's configuration."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=workspace,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(workspace),
            "GIT_CONFIG_NOSYSTEM": "1",
        },
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout
