"""Ground: which folders a trial was given, and where answers lie that it must not see."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

ABSOLUTE = re.compile(r"(?<![\w.~$}/:-])/(?:[\w.@+%,=*-]+/)*[\w.@+%,=*-]*")
CLIMBING = re.compile(r"(?<![\w/])(?:\.\./)+[\w.@+%,=*/-]*")
MAX_STEPS = 5
"""Folders below the workspace from which a path that climbs may start."""


class Area(Enum):
    """A part of this machine, by what an agent could find there."""

    OWN = "its own folders"
    RESULTS = "a folder of results"
    DATASETS = "the folder of the datasets"
    REPOSITORIES = "a git repository that holds more than the sealed commit"
    OTHERS = "the folders of other trials"
    PROJECT = "the project that measures it"
    HOME = "the home of the user who measures it"
    ELSEWHERE = "elsewhere"


FORBIDDEN = frozenset({Area.RESULTS, Area.DATASETS, Area.REPOSITORIES, Area.OTHERS})
"""Where answers, checks and other agents' work lie."""


@dataclass(frozen=True)
class Ground:
    """Folders as absolute paths, such as the agent saw them."""

    project: str
    scratch: str
    """Folder of the trial; its workspace, artifacts and homes lie below."""
    home: str
    """The user's own."""
    programs: tuple[str, ...] = ()
    """Folders of programs below the project or the home that an agent may read."""

    @property
    def workspace(self) -> str:
        """Where the agent starts."""
        return f"{self.scratch}/workspace"

    def area(self, path: str) -> Area:
        """Where an absolute path in normal form leads."""
        if any(
            _below(path, folder) for folder in (self.workspace, f"{self.scratch}/artifacts", *self.programs)
        ):
            return Area.OWN
        if _below(path, self.scratch):
            below = path[len(self.scratch) :].strip("/")
            own = not below or below.startswith("invocation-")
            return Area.OWN if own else Area.REPOSITORIES if below.startswith("trusted.git") else Area.OTHERS
        kept = f"{self.project}/.artifacts"
        for folder, area in (
            (f"{self.project}/results", Area.RESULTS),
            (f"{self.project}/datasets", Area.DATASETS),
            (f"{kept}/repositories", Area.REPOSITORIES),
            (kept, Area.OTHERS),
            (self.project, Area.PROJECT),
            (self.home, Area.HOME),
        ):
            # A folder around the trial's own is passed on the way there, and shows names alone.
            if _below(path, folder) and not _below(self.scratch, path):
                return area
        return Area.PROJECT if path == self.project else Area.ELSEWHERE

    def paths_in(self, text: str) -> Iterator[tuple[str, Area]]:
        """Paths in a command or another text, in normal form, with where they lead."""
        for found in ABSOLUTE.finditer(text):
            path = posixpath.normpath(found[0])
            yield path, self.area(path)
        for found in CLIMBING.finditer(text):
            yield self._climbed(found[0])

    def of(self, path: str) -> tuple[str, Area]:
        """A path that was given to a tool, with where it leads."""
        path = path.removeprefix("file://")
        if path.startswith("/"):
            path = posixpath.normpath(path)
            return path, self.area(path)
        if path.startswith("../") or "/../" in path or path == "..":
            return self._climbed(path)
        return path, Area.OWN

    def _climbed(self, path: str) -> tuple[str, Area]:
        """Where a path that climbs leads.

        It may start in any folder of the workspace: the worst place that it may lead to counts, but for other
        trials' folders, whose names a repository may have as well.
        """
        reached = [(path, Area.OWN)]
        for steps in range(MAX_STEPS):
            shorter = path
            for _ in range(steps):
                shorter = shorter.removeprefix("../")
            if steps and not shorter.startswith("../"):
                break
            place = posixpath.normpath(posixpath.join(self.workspace, shorter))
            reached.append((place, self.area(place)))
        worst = [each for each in reached if each[1] in FORBIDDEN - {Area.OTHERS}]
        if worst:
            return worst[0]
        others = all(area is Area.OTHERS for _, area in reached[1:])
        return reached[1] if others and not _below(reached[1][0], self.scratch) else reached[0]


def _below(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(f"{folder.rstrip('/')}/"))
