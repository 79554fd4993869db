"""Bundle: whether the committed Plotly file is the one it says it is, and fits the Python package."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

from runner.errors import HarnessmarkError, PublishError

_NAME = re.compile(r"plotly-(\d+\.\d+\.\d+)\.min\.js")
_REMEDY = "rebuild it as site_src/plotly/README.md says"


def bundle_file(assets: Path) -> Path:
    """The one Plotly bundle in a folder. Raises PublishError when there is none or more than one."""
    found = sorted(file for file in assets.glob("plotly-*.min.js") if _NAME.fullmatch(file.name))
    if len(found) != 1:
        raise PublishError(
            f"there must be one Plotly bundle, not {len(found)}", where=str(assets), remedy=_REMEDY
        )
    return found[0]


def bundle_version(file: Path) -> str:
    """The version of plotly.js that a bundle's file name states."""
    match = _NAME.fullmatch(file.name)
    if match is None:
        raise PublishError("this is not the name of a Plotly bundle", where=str(file), remedy=_REMEDY)
    return match.group(1)


def installed_version() -> str:
    """The version of plotly.js inside the installed Python package `plotly`."""
    from plotly.offline import get_plotlyjs_version

    return str(get_plotlyjs_version())


def verify_bundle(assets: Path, *, built: Path | None = None) -> str:
    """Checks the bundle and says what was found.

    Its SHA-256 must be the one beside it; its version that of the Python package, the one stated inside and
    the one that `charts.js` loads. With `built`, a folder `build.mjs` wrote to, the bytes must be equal too.
    Raises PublishError naming the first difference.
    """
    file = bundle_file(assets)
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    listed = (assets / f"{file.name}.sha256").read_text(encoding="utf-8").split()
    if listed != [digest, file.name]:
        raise PublishError("the Plotly bundle does not match its SHA-256", where=str(file), remedy=_REMEDY)
    version = bundle_version(file)
    if version != installed_version():
        raise PublishError(
            f"the bundle is plotly.js {version}, the Python package holds {installed_version()}",
            where=str(file),
            remedy=_REMEDY,
        )
    if f'.version="{version}"'.encode() not in content:
        raise PublishError("the bundle holds another version than its name says", where=str(file))
    if f'"{file.name}"' not in (assets / "charts.js").read_text(encoding="utf-8"):
        raise PublishError("charts.js loads another bundle", where=file.name, remedy="name this file in it")
    if built is not None and bundle_file(built).read_bytes() != content:
        raise PublishError("the bundle built anew differs from the committed one", where=str(built))
    return f"{file.name}: {len(content)} bytes, sha256 {digest}"


def main(arguments: list[str]) -> int:
    """Command line: checks the committed bundle; a folder as argument is compared with it."""
    assets = Path(__file__).resolve().parents[2] / "site_src" / "assets"
    try:
        found = verify_bundle(assets, built=Path(arguments[0]) if arguments else None)
    except HarnessmarkError as error:
        sys.stderr.write(f"{error.message()}\n")
        return error.exit_code
    sys.stdout.write(f"{found}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
