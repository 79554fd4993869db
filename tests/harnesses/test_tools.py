"""Programs beside the harnesses: installed by name, pinned, and found where their users look."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner.harnesses.installer import install
from runner.harnesses.python_program import constraints_of
from runner.harnesses.registry import HARNESSES
from runner.harnesses.tools import TOOLS
from runner.providers.litellm_program import NAME, REFUSED, VERSION
from tests.harnesses.shop import Shop

CONSTRAINTS = Path(__file__).parent.parent.parent / "constraints.txt"


def test_the_proxy_is_installed_with_its_extra_in_the_folder_that_its_provider_looks_in(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    (done,) = install(["litellm"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert (done.name, done.version, done.fresh) == (NAME, VERSION, True)
    (pip,) = shop.called()
    assert pip.endswith(f"litellm[proxy]=={VERSION}")
    folder = tmp_path / "h" / NAME / VERSION
    assert (folder / "python").exists()
    assert (folder / "site").is_dir()
    (again,) = install(["litellm"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert not again.fresh


def test_everything_stands_for_every_harness_and_not_for_the_tools(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    done = install(["all"], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert not {each.name for each in done} & TOOLS.keys()


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_no_tool_has_the_name_of_a_harness_and_every_package_of_it_is_pinned(name: str) -> None:
    assert name not in HARNESSES
    pins = constraints_of(TOOLS[name])
    assert pins is not None
    lines = pins.read_text(encoding="utf-8").splitlines()[1:]
    assert f"{name}=={TOOLS[name].version}" in lines
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9A-Za-z.+!-]+", line) for line in lines)


def test_the_proxy_has_the_same_version_everywhere_and_not_one_that_was_tampered_with() -> None:
    assert TOOLS["litellm"].version == VERSION
    assert VERSION not in REFUSED
    assert f"litellm=={VERSION}" in CONSTRAINTS.read_text(encoding="utf-8").splitlines()
