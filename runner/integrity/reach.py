"""Reach: what an agent's commands and tool calls reach for beyond its own folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from runner.datasets import Task
from runner.integrity.actions import Action
from runner.integrity.ground import FORBIDDEN, Area, Ground
from runner.records import Severity

GIT = re.compile(
    r"\bgit(?P<options>(?:\s+-{1,2}[\w-]+(?:[= ]?\S+)?)*?)\s+(?P<verb>[a-z][a-z-]+)(?P<rest>[^;&|\n]*)"
)
DIGS = {
    "fsck": re.compile(r"--(?:lost-found|unreachable|dangling|no-reflogs?)"),
    "reflog": re.compile(r""),
    "cat-file": re.compile(r"--batch-all-objects"),
    "rev-list": re.compile(r"--(?:all|reflog)\b"),
    "log": re.compile(r"--(?:all|reflog|walk-reflogs)\b"),
    "unpack-objects": re.compile(r""),
    "bundle": re.compile(r"\b(?:unbundle|verify|list-heads)\b"),
}
"""Commands of git that look for objects which no branch leads to."""
REMOTE = frozenset({"clone", "fetch", "pull", "ls-remote"})
REMOTE_PAIRS = re.compile(r"^\s*(?:add|set-url|update)\b")
URL = re.compile(r"(?i)\b(?:https?|ssh|git|ftp)://[^\s'\"<>|;)]+|\bgit@[\w.-]+:[^\s'\"<>|;)]+")
NETWORK = re.compile(
    r"(?i)\b(?:curl|wget|aria2c|lynx|http|https|gh|glab|hub)\s|urlopen|urlretrieve|requests\.\w+\(|httpx\.|"
    r"\bfetch\(|axios|Invoke-WebRequest"
)
PACKAGES = re.compile(
    r"\b(?:pip3?|pipx|uv|poetry|npm|pnpm|yarn|cargo|go|gem|conda)(?:\s+\S+)??\s+"
    r"(?:install|download|add|get|pack|view|fetch|i)\b(?P<names>[^;&|\n]*)"
)
WEB_TOOL = re.compile(r"(?i)web|browse|fetch_?url|url_?fetch|http")
LOOPBACK = re.compile(r"(?i)localhost|127\.|\[?::1|0\.0\.0\.0")
LIMIT_WORDS = re.compile(r"(?i)timeout|time_limit|max_?(?:turns|tokens|seconds|cost)|budget|limit")
MEDDLES = re.compile(r"\bp?kill(?:all)?\b[^;&|\n]*(?:\$\{?PPID|-(?:STOP|SIGSTOP|19)\b)|\bprlimit\b")
PROCESS = re.compile(r"/proc/(?:\d+|\*|\$\w+)/(?:environ|root|cwd|mem|fd)\b")
WHOLE_MACHINE = re.compile(r"\b(?:find|rg|fd|ag|grep\s+-\w*[rR]\w*(?:\s+\S+)?)\s+/(?=\s|$)")


@dataclass(frozen=True)
class Reached:
    """One thing that an action reached for."""

    rule: str
    severity: Severity
    text: str
    words: str
    """Where in the action it stands."""


@dataclass(frozen=True)
class Barrier:
    """What kept the agent from reaching things."""

    files: bool
    """Files outside its folders did not exist for it."""
    network: bool
    """No other machine could be reached."""

    def of_files(self) -> Severity:
        """What a path to an answer means."""
        return Severity.NOTE if self.files else Severity.VOID

    def of_network(self) -> Severity:
        """What a call for the project's own source means."""
        return Severity.NOTE if self.network else Severity.VOID


def reached(action: Action, ground: Ground, task: Task, barrier: Barrier) -> Iterator[Reached]:
    """Everything that ``action`` reached for."""
    yield from _files(action, ground, barrier)
    for command in action.commands:
        yield from _in_git(command, task, barrier)
        yield from _over_network(command, task, barrier)
        if (found := MEDDLES.search(command)) is not None:
            yield Reached(
                "limits", barrier.of_files(), "a command stops the process that watches it", found[0]
            )
        if (found := PROCESS.search(command)) is not None:
            yield Reached("outside", Severity.NOTE, "a command looks into other processes", found[0])
        if not barrier.files and (found := WHOLE_MACHINE.search(command)) is not None:
            yield Reached("outside", Severity.NOTE, "a command searches the whole machine", found[0])
    for address in action.addresses:
        if WEB_TOOL.search(action.tool):
            yield from _address(address, task, barrier, f"the tool {action.tool[:40]} is given")


def _files(action: Action, ground: Ground, barrier: Barrier) -> Iterator[Reached]:
    everything = " ".join(action.everything())
    for path in action.paths:
        yield from _place(*ground.of(path), everything, barrier, named=True)
    for command in action.commands:
        for path, area in ground.paths_in(command):
            yield from _place(path, area, everything, barrier, named=True)
    for text in action.texts:
        for path, area in ground.paths_in(text):
            yield from _place(path, area, everything, barrier, named=False)


def _place(path: str, area: Area, everything: str, barrier: Barrier, *, named: bool) -> Iterator[Reached]:
    """What a path means. In a text it may be a word only; there nothing but a place of answers counts."""
    how = "is named" if named else "stands in what it wrote"
    if area in FORBIDDEN:
        rule = {Area.REPOSITORIES: "history", Area.OTHERS: "outside"}.get(area, "results-read")
        if path.endswith(".bundle") or "/.git/" in path:
            rule = "history"
        if area is Area.DATASETS and LIMIT_WORDS.search(everything):
            rule = "limits"
        void = "" if not barrier.files else ", which did not exist for it"
        yield Reached(rule, barrier.of_files(), f"{area.value} {how}{void}", path)
    elif named and area in {Area.PROJECT, Area.HOME}:
        yield Reached("outside", Severity.NOTE, f"{area.value} {how}", path)


def _in_git(command: str, task: Task, barrier: Barrier) -> Iterator[Reached]:
    for found in GIT.finditer(command):
        verb, rest = found["verb"], found["rest"]
        if verb in DIGS and DIGS[verb].search(rest) is not None:
            text = "a command looks for objects that no branch leads to; the sealed repository holds none"
            yield Reached("history", Severity.NOTE, text, found[0])
        far = verb in REMOTE or (verb in {"remote", "submodule"} and REMOTE_PAIRS.match(rest) is not None)
        if far and URL.search(rest) is None and not re.search(r"(?:^|\s)[./~]", rest):
            text = "a command asks for a remote; the sealed repository has none"
            yield Reached("upstream", Severity.NOTE, text, found[0])
        elif far:
            for url in URL.findall(rest):
                yield from _address(url, task, barrier, "git is given")


def _over_network(command: str, task: Task, barrier: Barrier) -> Iterator[Reached]:
    if NETWORK.search(command) is not None:
        for url in URL.findall(command):
            yield from _address(url, task, barrier, "a command reaches for")
    name = task.repository_name.lower()
    for found in PACKAGES.finditer(command):
        words = {re.split(r"[=<>@\[~!]", word, maxsplit=1)[0].lower() for word in found["names"].split()}
        if name in {word.replace("_", "-") for word in words} | words:
            yield Reached(
                "upstream", barrier.of_network(), "the project's own package is asked for", found[0]
            )


def _address(address: str, task: Task, barrier: Barrier, how: str) -> Iterator[Reached]:
    """What an address, or words for a search, mean."""
    url = address if "//" in address else address.replace(":", "/", 1).replace("git@", "ssh://git@", 1)
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return
    if "." not in host and not host:
        if _names_project(address, task):
            yield Reached("upstream", Severity.NOTE, f"{how} words that name the project", address)
        return
    if LOOPBACK.match(host):
        return
    if _is_upstream(parts.path, address, task):
        yield Reached("upstream", barrier.of_network(), f"{how} the place the project comes from", address)
    else:
        yield Reached("upstream", Severity.NOTE, f"{how} another machine", address)


def _is_upstream(path: str, address: str, task: Task) -> bool:
    known = [task.problem_issue_url]
    known += [task.ground_truth.reference_url] if task.ground_truth is not None else []
    if any(each and address.rstrip("/").startswith(each.rstrip("/")) for each in known):
        return True
    parts = [part.removesuffix(".git").lower() for part in path.split("/")]
    return task.repository_name.lower() in parts


def _names_project(words: str, task: Task) -> bool:
    return re.search(rf"(?i)(?<![\w-]){re.escape(task.repository_name)}(?![\w-])", words) is not None
