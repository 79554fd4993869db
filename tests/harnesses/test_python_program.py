"""Python programs: whole with their packages, movable, pinned, and on the interpreter they need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import ConfigurationError
from runner.harnesses.installation import Runtime
from runner.harnesses.installer import LOCKS, install
from runner.harnesses.interpreters import interpreter, interpreter_folder
from runner.harnesses.programs import ask_version
from runner.harnesses.python_program import constraints_of, finish, pip_options, python_command
from runner.harnesses.registry import HARNESSES, harness
from tests.harnesses.fakes import put_script
from tests.harnesses.shop import SCRIPTED, Scripted, Shop


def test_a_python_program_comes_with_its_packages_and_sees_no_others(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    (done,) = install([SCRIPTED], tmp_path / "h", lambda _: None, registries=shop.registries)
    assert (done.name, done.version, done.fresh) == ("scripted", "1.2.3", True)
    found = Scripted()
    assert found.version(tmp_path / "h") == "1.2.3"
    folder, library = found.folders(tmp_path / "h")
    assert folder == tmp_path / "h" / "scripted" / "1.2.3"
    assert Path(sys.base_prefix).resolve() == library
    run = subprocess.run(
        [*found.command(tmp_path / "h"), "--flag"], env={}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 7, run.stderr
    assert f"started ['--flag'] {folder / 'python'}" in run.stdout
    options = [*found.command(tmp_path / "h")[:-1], "-c", "import sys, pytest"]
    alone = subprocess.run(options, env={}, capture_output=True, text=True, check=False)
    assert "No module named 'pytest'" in alone.stderr


def test_every_package_of_a_python_program_is_pinned_and_its_code_not_run_while_it_comes(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    install([SCRIPTED], tmp_path / "h", lambda _: None, registries=shop.registries)
    (pip,) = shop.called()
    assert "--only-binary=:all:" in pip
    assert f"--constraint {constraints_of(Scripted.installation)}" in pip
    assert f"--python {interpreter('', '')} install" in pip
    assert "--no-deps" not in pip


@pytest.mark.parametrize("name", sorted(HARNESSES))
def test_the_constraints_of_each_python_program_pin_it_and_name_nothing_but_versions(name: str) -> None:
    pinned = harness(name).installation
    if pinned is None or pinned.runtime is not Runtime.PYTHON:
        return
    written = constraints_of(pinned)
    assert written is not None
    lines = written.read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert f"{pinned.package}=={pinned.version}" in pins
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.!+]*", pin) for pin in pins)


def test_a_python_program_outside_the_project_brings_its_own_pins_or_none(tmp_path: Path) -> None:
    stranger = replace(Scripted.installation, package="a-stranger")
    assert constraints_of(stranger) is None
    assert "--constraint" not in pip_options(stranger, tmp_path)
    own = replace(stranger, constraints=tmp_path / "pins.txt")
    options = pip_options(own, tmp_path)
    assert options[options.index("--constraint") + 1] == str(tmp_path / "pins.txt")


def test_a_python_program_comes_with_the_packages_named_beside_it(tmp_path: Path) -> None:
    with_tools = replace(Scripted.installation, extras=("a", "b"), beside=("its-tools==2.0",))
    assert pip_options(with_tools, tmp_path)[-2:] == ("its-tools==2.0", "mini-swe-agent[a,b]==1.2.3")


def put_library(folder: Path, code: str) -> None:
    """A library called ``a-library`` with its launcher."""
    about = folder / "site" / "a_library-4.5.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: a-library\nVersion: 4.5\n")
    (about / "RECORD").write_text("alib/__init__.py,,\nalib/deep/__init__.py,,\nalone.py,,\n")
    (folder / "site" / "alib").mkdir()
    (folder / "site" / "alib" / "__init__.py").write_text(code)
    finish(replace(Scripted.installation, package="a-library", script=""), folder, interpreter("", ""))


def test_a_library_is_used_by_a_file_of_the_harnesss_own(tmp_path: Path) -> None:
    put_library(tmp_path / "p", "print('a banner, 9.9')\nvalue = 42\n")
    assert ask_version(python_command(tmp_path / "p")) == "4.5"
    own = tmp_path / "own.py"
    own.write_text("import sys, alib\nprint(__name__, alib.value, sys.argv[1:])\nsys.exit(3)\n")
    done = subprocess.run(
        [*python_command(tmp_path / "p"), str(own), "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "a banner, 9.9\n__main__ 42 ['--version']\n")


def test_a_library_that_does_not_load_has_no_version(tmp_path: Path) -> None:
    put_library(tmp_path / "p", "import something_that_is_missing\n")
    with pytest.raises(ConfigurationError):
        ask_version(python_command(tmp_path / "p"))


def test_only_the_packages_that_are_named_are_built_from_source(tmp_path: Path) -> None:
    built = pip_options(replace(Scripted.installation, built=("old-one",)), tmp_path)
    assert built[:2] == ("--only-binary=:all:", "--no-binary=old-one")


def test_a_python_program_that_is_moved_still_starts(tmp_path: Path) -> None:
    install([SCRIPTED], tmp_path / "h", lambda _: None, registries=Shop(tmp_path).registries)
    moved = (tmp_path / "h" / "scripted" / "1.2.3").rename(tmp_path / "elsewhere")
    assert ask_version(python_command(moved)) == "1.2.3"


def test_a_python_program_is_installed_again_when_its_interpreter_is_gone(tmp_path: Path) -> None:
    install([SCRIPTED], tmp_path / "h", lambda _: None, registries=Shop(tmp_path).registries)
    link = tmp_path / "h" / "scripted" / "1.2.3" / "python"
    link.unlink()
    link.symlink_to(tmp_path / "gone" / "bin" / "python3.11")
    with pytest.raises(ConfigurationError, match="not installed"):
        Scripted().version(tmp_path / "h")
    (done,) = install([SCRIPTED], tmp_path / "h", lambda _: None, registries=Shop(tmp_path).registries)
    assert done.fresh
    assert Scripted().version(tmp_path / "h")


def test_a_python_program_that_cannot_be_had_leaves_nothing(tmp_path: Path) -> None:
    shop = Shop(tmp_path, FAIL_PIP="1")
    with pytest.raises(ConfigurationError, match="no matching distribution"):
        install([SCRIPTED], tmp_path / "h", lambda _: None, registries=shop.registries)
    # Whoever removed a lock file would take it from another that waits for it.
    assert [path.name for path in (tmp_path / "h").iterdir()] == [LOCKS]


def test_another_python_is_asked_for_by_its_version_and_what_does_not_work_is_passed_over(
    tmp_path: Path,
) -> None:
    put_script(tmp_path / "shims" / "python3.97", "echo 'command not found' >&2; exit 127")
    put_script(tmp_path / "wrong" / "python3.97", "echo 3.98; echo /usr")
    put_script(tmp_path / "real" / "bin" / "python3.97", f"echo 3.97; echo {tmp_path / 'real'}")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "python3.97").symlink_to(tmp_path / "real" / "bin" / "python3.97")
    folders = [str(tmp_path / name) for name in ("nothing", "shims", "wrong", "venv")]
    found = interpreter("3.97", os.pathsep.join(folders))
    assert found == tmp_path / "real" / "bin" / "python3.97"
    assert interpreter_folder(found) == tmp_path / "real"


def test_a_missing_python_is_named_with_what_to_do_before_anything_is_fetched(tmp_path: Path) -> None:
    shop = Shop(tmp_path, PATH=str(tmp_path))
    needs = replace(Scripted.installation, python="3.97")
    with pytest.raises(ConfigurationError, match=r"Python 3\.97 is not on this machine") as caught:
        shop.registries.fetch(needs, tmp_path / "h", tmp_path)
    assert "install Python 3.97" in caught.value.remedy
    assert shop.called() == []


def test_the_running_python_stands_for_its_own_version_without_its_environment() -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert interpreter(version, "") == interpreter("", "")
    assert interpreter("", "").is_relative_to(sys.base_prefix)
