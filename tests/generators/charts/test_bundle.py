"""The Plotly bundle: hash, version, licence, and what must not be in it."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from generators.charts.bundle import bundle_file, bundle_version, installed_version, main, verify_bundle
from runner.errors import PublishError

SITE_SRC = Path(__file__).parents[3] / "site_src"
ASSETS = SITE_SRC / "assets"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The bundle's files in a folder that may be changed."""
    for file in [*ASSETS.glob("plotly-*"), ASSETS / "charts.js"]:
        shutil.copy(file, tmp_path)
    return tmp_path


def test_the_committed_bundle_is_the_right_one() -> None:
    assert bundle_version(bundle_file(ASSETS)) in verify_bundle(ASSETS)
    assert bundle_version(bundle_file(ASSETS)) == installed_version()
    assert main([]) == 0


def test_the_build_script_pins_the_same_version() -> None:
    package = json.loads((SITE_SRC / "plotly" / "package.json").read_text(encoding="utf-8"))
    assert package["devDependencies"]["plotly.js"] == installed_version()
    assert not any(version.startswith(("^", "~", ">")) for version in package["devDependencies"].values())


def test_a_changed_byte_is_found(copied: Path) -> None:
    file = bundle_file(copied)
    content = bytearray(file.read_bytes())
    content[-10] ^= 1
    file.write_bytes(bytes(content))
    with pytest.raises(PublishError, match="does not match its SHA-256"):
        verify_bundle(copied)


def test_a_bundle_of_another_version_is_found(copied: Path) -> None:
    file = bundle_file(copied)
    renamed = file.rename(copied / "plotly-9.9.9.min.js")
    digest = (copied / f"{file.name}.sha256").read_text().split()[0]
    (copied / "plotly-9.9.9.min.js.sha256").write_text(f"{digest}  {renamed.name}\n")
    with pytest.raises(PublishError, match=r"bundle is plotly.js 9\.9\.9"):
        verify_bundle(copied)


def test_a_script_that_loads_another_bundle_is_found(copied: Path) -> None:
    (copied / "charts.js").write_text('const BUNDLE = "plotly-1.0.0.min.js";')
    with pytest.raises(PublishError, match="loads another bundle"):
        verify_bundle(copied)


def test_a_different_build_is_found_and_an_equal_one_accepted(copied: Path, tmp_path: Path) -> None:
    built = tmp_path / "built"
    built.mkdir()
    shutil.copy(bundle_file(copied), built)
    assert verify_bundle(copied, built=built)
    (built / bundle_file(copied).name).write_text("other")
    with pytest.raises(PublishError, match="differs from the committed one"):
        verify_bundle(copied, built=built)


def test_a_missing_bundle_is_said(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="one Plotly bundle, not 0"):
        verify_bundle(tmp_path)


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == PublishError.exit_code
    assert "one Plotly bundle, not 0" in capsys.readouterr().err


def test_the_bundle_is_small_licensed_and_evaluates_no_text() -> None:
    content = bundle_file(ASSETS).read_bytes()
    assert len(gzip.compress(content, 9, mtime=0)) <= 430 * 1024
    assert b"new Function" not in content
    assert b"maplibre" not in content
    for kind in (b'name="scatter"', b'name="bar"', b'name="scatterpolar"'):
        assert kind in content or kind.replace(b"name=", b"name:") in content
    assert "MIT License" in (ASSETS / "plotly-LICENSE.txt").read_text(encoding="utf-8")
    scripts = sum(
        len(gzip.compress((ASSETS / name).read_bytes(), 9, mtime=0)) for name in ("charts.js", "tables.js")
    )
    assert scripts <= 8 * 1024
