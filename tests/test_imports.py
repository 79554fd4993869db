"""Who may import whom, as the design draws it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOUNDATION = {"runner.records", "runner.errors"}
MIDDLE = FOUNDATION | {"runner.store", "runner.datasets", "runner.costs"}
ALLOWED: dict[str, set[str]] = {
    "runner.errors": set(),
    "runner.records": {"runner.errors"},
    # How an extension is found by its name: shared by every registry.
    "runner.registry": {"runner.errors"},
    "runner.secrets": {"runner.errors"},
    # Where a program is that a harness starts and a provider asks for its sign-in.
    "runner.kiro": {"runner.errors"},
    # What the system tells of a process: of servers that a provider starts and of agents alike.
    "runner.process_stat": set(),
    "runner.store": FOUNDATION | {"runner.secrets"},
    "runner.datasets": FOUNDATION | {"runner.store"},
    "runner.costs": FOUNDATION | {"runner.store"},
    "runner.replay": MIDDLE,
    "runner.skills": MIDDLE | {"runner.registry"},
    "runner.harnesses": MIDDLE | {"runner.registry", "runner.kiro"},
    # An agentic judge is a harness that is asked for a judgement.
    "runner.judges": MIDDLE | {"runner.harnesses", "runner.registry"},
    # A provider makes the Endpoint value that a harness receives, and replay is one.
    "runner.providers": MIDDLE
    | {"runner.harnesses.endpoint", "runner.registry", "runner.replay", "runner.kiro", "runner.process_stat"},
    # Rules that look through what an agent did; how its stream is shown is handed in.
    "runner.integrity": MIDDLE,
    "runner.importers": MIDDLE | {"runner.secrets"},
    "runner.serving": MIDDLE,
    "runner.endpoint": MIDDLE | {"runner.registry"},
    "runner.engine": MIDDLE
    | {
        "runner.harnesses",
        "runner.providers",
        "runner.skills",
        "runner.replay",
        "runner.judges",
        "runner.integrity",
        "runner.serving",
        "runner.endpoint",
        "runner.secrets",
        "runner.process_stat",
    },
    # The thin tasks: each parses its flags and calls one function.
    "runner.commands": {"runner"},
    "generators": MIDDLE,
}


def modules() -> list[Path]:
    return sorted(path for package in ("runner", "generators") for path in (ROOT / package).rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(module: str) -> str:
    parts = module.split(".")
    return "generators" if parts[0] == "generators" else ".".join(parts[:2])


def imports_of(path: Path) -> set[str]:
    """Our own modules that ``path`` imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] in {"runner", "generators", "tests", "tasks"}}


def may_import(importer: str, imported: str) -> bool:
    package = package_of(importer)
    if package == "runner":
        return False
    if imported == package or imported.startswith(f"{package}."):
        return True
    return any(imported == allowed or imported.startswith(f"{allowed}.") for allowed in ALLOWED[package])


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_a_module_imports_only_what_its_package_may(path: Path) -> None:
    forbidden = sorted(name for name in imports_of(path) if not may_import(dotted(path), name))
    assert forbidden == []


def test_every_package_of_the_runner_has_a_rule() -> None:
    packages = {package_of(dotted(path)) for path in modules()} - {"runner"}
    assert packages <= ALLOWED.keys()


def test_the_rule_itself_refuses_what_it_should() -> None:
    assert not may_import("runner.records.trial", "runner.store.layout")
    assert not may_import("runner.harnesses.loop", "runner.engine.running")
    assert not may_import("runner.engine.running", "generators.build")
    assert not may_import("generators.build", "runner.engine.running")
    assert may_import("generators.build", "runner.costs.tokens")


def test_only_the_tasks_print() -> None:
    printing = [
        dotted(path)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print"
    ]
    assert printing == []
