"""Harness commands: installing coding agents, listing them, and what they say of their own use."""

from __future__ import annotations

from invoke import Context, task

from runner.commands.task import command, places, say
from runner.errors import UsageError


@task(
    name="harness-install",
    positional=["names"],
    help={
        "names": "harnesses with commas between, or all",
        "lock": "for who raises a version: write down which packages it came with, for every installation",
    },
)
@command
def harness_install(context: Context, names: str, lock: bool = False) -> None:
    """Install pinned coding agents, and the runtimes they need, below .harnesses/."""
    from runner.harnesses.installer import install, write_locks

    if not names.strip(" ,"):
        raise UsageError("no harness is named", remedy="name some with commas between, or all")
    wanted, installed = names.replace(",", " ").split(), places(context).harnesses
    for program in install(wanted, installed, say):
        say(program.line())
    for path in write_locks(wanted, installed) if lock else ():
        say(f"locked: {path.name}")


@task(name="harness-list")
@command
def harness_list(context: Context) -> None:
    """Show each coding agent: installed, its version, and which providers it can use, or why not."""
    from runner.harnesses.listing import listing
    from runner.providers.registry import PROVIDERS, provider

    protocols = {name: provider(name).protocols for name in PROVIDERS}
    for listed in listing(places(context).harnesses, protocols):
        for line in listed.lines():
            say(line)


@task(
    help={
        "harness": "harnesses with commas, or import paths (default: every one that is installed)",
        "page": "keep the rows for the site (site_src/reference/accounting.json)",
    }
)
@command
def accounting(context: Context, harness: str = "", page: bool = False) -> int:
    """Run installed agents against the built-in model server: recorded beside true token counts."""
    from runner.engine.accounting import accounting_command

    return accounting_command(places(context), say, harness.split(",") if harness else None, keep=page)
