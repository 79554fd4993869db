"""The content security policy of a page."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from generators.publish.markup import Page
from generators.publish.policy import InlineScripts, content_security_policy, with_policy
from generators.publish.site import BuiltSite
from runner.errors import PublishError


def test_scripts_are_allowed_by_their_digest_and_nothing_else_is() -> None:
    digest = base64.b64encode(hashlib.sha256(b"go()").digest()).decode()
    policy = content_security_policy(["go()", "go()"])
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.replace("style-src 'self' 'unsafe-inline'", "")


def test_the_theme_s_scripts_are_known_only_as_the_theme_writes_them(portal: BuiltSite) -> None:
    known = InlineScripts.of_theme()
    written = [text for _, text in Page((portal.folder / "index.html").read_text(encoding="utf-8")).scripts]
    assert len(written) >= 3
    for script in written:
        assert known.known(script)
        assert not known.known(script + ";alert(1)")
        assert not known.known("alert(1);" + script)
    assert not known.known("")


def test_only_a_plain_way_to_the_root_may_stand_in_the_theme_s_script(portal: BuiltSite) -> None:
    text = (portal.folder / "404.html").read_text(encoding="utf-8")
    script = text.partition("<script>")[2].partition("</script>")[0]
    known = InlineScripts.of_theme()
    assert '"/portal/"' in script
    assert known.known(script)
    assert known.known(script.replace('"/portal/"', '"../.."'))
    assert not known.known(script.replace('"/portal/"', '""+alert(1)+""'))


def test_a_theme_without_scripts_is_not_taken_for_the_theme(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="inline scripts were not found"):
        InlineScripts.of_theme(tmp_path)


def test_a_page_without_the_theme_s_head_is_refused() -> None:
    with pytest.raises(PublishError, match="no head"):
        with_policy("<p>bare</p>", [])


def test_every_built_page_has_one_policy_before_its_first_script(portal: BuiltSite) -> None:
    pages = list(portal.folder.rglob("*.html"))
    assert len(pages) == portal.pages
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert text.count("Content-Security-Policy") == 1, path
        assert text.index("Content-Security-Policy") < text.index("<script")
        assert text.index("Content-Security-Policy") < 1024
