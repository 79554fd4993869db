"""Artifacts of a trial: what an agent left behind, shown without giving it the page, and to download."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from markupsafe import Markup

from generators import escape
from generators.pages import links
from generators.pages.rendering import Asset
from generators.tables.facts import TrialFacts
from runner.records import Artifact, ArtifactState, sha256_of

NOTE_SUFFIX = ".md"
PATCH_SUFFIXES = (".diff", ".patch")
LARGEST_DOWNLOAD = 4 * 1024 * 1024
"""Larger files stay in the results folder: a site that many people load is no place for them."""


@dataclass(frozen=True)
class ShownArtifact:
    """One artifact: its record, its content as HTML (None: nothing to show), its download, and remarks."""

    record: Artifact
    html: Markup | None
    asset: Asset | None
    href: str
    remark: str

    @property
    def name(self) -> str:
        """File name in the skill's contract."""
        return self.record.name


def shown_artifacts(trial: TrialFacts, page: str, prefix: str) -> list[ShownArtifact]:
    """Every artifact of the skill's contract, in the order of the record."""
    return [_shown(trial, artifact, page, prefix) for artifact in trial.record.artifacts]


def download_path(trial: TrialFacts, name: str, prefix: str) -> str:
    """Where the site keeps an artifact as it is.

    The name ends in ``.txt`` whatever it was, so that no server sends it as a page, a script or a picture,
    and the site builder does not take it for one of its own pages.
    """
    return prefix + posixpath.join("data", "trials", *trial.record.identity.key, f"{name}.txt")


def _shown(trial: TrialFacts, artifact: Artifact, page: str, prefix: str) -> ShownArtifact:
    if artifact.state is not ArtifactState.PRESENT:
        return ShownArtifact(artifact, None, None, "", "")
    content = trial.stored.artifact(artifact.name)
    if content is None:
        return ShownArtifact(artifact, None, None, "", "not in the store")
    if sha256_of(content) != artifact.sha256:
        return ShownArtifact(artifact, None, None, "", "changed since it was recorded, so it is not shown")
    asset, href, remark = None, "", f"too large for the site: {len(content):,} bytes"
    if len(content) <= LARGEST_DOWNLOAD:
        asset = Asset(download_path(trial, artifact.name, prefix), content)
        href, remark = links.relative(page, asset.path), ""
    return ShownArtifact(artifact, _html(artifact.name, content, href), asset, href, remark)


def _html(name: str, content: bytes, href: str) -> Markup:
    """The content in the way its name promises; bytes that are not UTF-8 become replacement characters."""
    raw = content.decode(errors="replace")
    if not raw.strip():
        return Markup('<p class="hm-unknown">This file is empty.</p>')
    if name.endswith(PATCH_SUFFIXES):
        return escape.diff(raw, raw_href=href)
    if name.endswith(NOTE_SUFFIX):
        return escape.untrusted_markdown(raw, id_prefix=f"{name}-", raw_href=href, base_level=4)
    return Markup('<pre class="hm-pre" tabindex="0">{}</pre>').format(escape.text(raw))
