"""Setup: one page per harness on how it is installed, started and read, from what its module says."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.accounting import accounting_table
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, link_entry, table
from generators.pages.world import World
from runner.records import HarnessReference


def pages(world: World) -> Iterator[Page]:
    """The index and one page for each harness that a module describes."""
    if world.demonstration or not world.reference.harnesses:
        return
    yield _index(world)
    if world.reference.providers:
        yield _providers(world)
    for harness in world.reference.harnesses:
        yield _page(world, harness)


def _index(world: World) -> Page:
    measured = set(world.harnesses)
    rows = []
    for each in world.reference.harnesses:
        here = links.relative(links.SETUP, links.setup_page(each.name))
        rows.append(
            [
                link_entry(each.name, here, each.title),
                Entry(each.version or "with Harnessmark", unknown=each.version is None),
                Entry(_how(each)),
                Entry(words.listing(each.protocols)),
                Entry(words.listing(each.providers) or "none"),
                Entry("yes" if each.delegates else "no"),
                Entry(f"{each.memory_mb:,}", float(each.memory_mb)),
                Entry("results", href=links.relative(links.SETUP, links.harness_page(each.name)))
                if each.name in measured
                else Entry("none yet", unknown=True),
            ]
        )
    columns = [
        Column("Harness"),
        Column("Pinned version"),
        Column("Installed from"),
        Column("Protocols"),
        Column("Providers it can use", wide=True),
        Column("Subagents"),
        Column("Memory in MB", "number", "most that was seen, all processes together"),
        Column("Measured"),
    ]
    return Page(
        path=links.SETUP,
        title="Set up a harness",
        template="setup_index.md.j2",
        description="How each coding agent is installed at a pinned version, and what it can be run against.",
        context={
            "table": table("Harnesses that can be run", columns, rows),
            "links": links,
            "providers": bool(world.reference.providers),
        },
        crumbs=(Crumb("Home", links.HOME),),
    )


def _page(world: World, each: HarnessReference) -> Page:
    path = links.setup_page(each.name)
    own = world.reference.rows_of(each.name)
    facts = [
        ("Program", Entry(each.package, code=True) if each.package else Entry("part of Harnessmark")),
        ("Pinned version", Entry(each.version) if each.version else Entry("that of Harnessmark")),
        ("Installed from", Entry(_how(each))),
        ("Protocols", Entry(words.listing(each.protocols))),
        ("Subagents", Entry("it can start them" if each.delegates else "none")),
        ("Memory", Entry(f"{each.memory_mb:,} MB", note="most that was seen")),
        ("A turn is one of", Entry(each.turns_definition)),
        ("Token counts", Entry(words.semantics(each.cache_semantics))),
    ]
    rows = [
        [
            Entry(name, href=links.relative(path, links.PROVIDERS, name)),
            Entry(f"invoke run --harness {each.name} {_flags(world, name)}", code=True),
            Entry(_credentials(world, name)),
        ]
        for name in each.providers
    ]
    reasons = [[Entry(name), Entry(reason)] for name, reason in each.unusable_providers.items()]
    columns = [Column("Provider"), Column("Command", wide=True), Column("Credentials", wide=True)]
    why = [Column("Provider"), Column("Why", wide=True)]
    unusable = table("Providers it cannot use", why, reasons, sortable=False) if reasons else None
    return Page(
        path=path,
        title=f"Set up {each.name}",
        template="setup.md.j2",
        description=f"How {each.title} is installed, started and read by Harnessmark.",
        context={
            "harness": each,
            "facts": facts,
            "install": f"invoke harness-install {each.name}" if each.source in {"npm", "pypi"} else "",
            "commands": table("Commands by provider", columns, rows, sortable=False) if rows else None,
            "unusable": unusable,
            "accounting": accounting_table(own, f"Counts of {each.name}", harness=False) if own else None,
            "agreeing": sum(row.agrees for row in own),
            "total": len(own),
            "measured": links.relative(path, links.harness_page(each.name))
            if each.name in world.harnesses
            else "",
            "links": links,
        },
        crumbs=(Crumb("Home", links.HOME), Crumb("Set up", links.SETUP)),
    )


def _how(each: HarnessReference) -> str:
    sources = {"npm": "npm", "pypi": "PyPI", "by-hand": "its vendor, by hand", "built-in": "built in"}
    return sources[each.source] + (f", runs on {each.runtime}" if each.runtime else "")


def _flags(world: World, name: str) -> str:
    described = world.reference.provider(name)
    return described.flags if described else f"--provider {name} --model MODEL"


def _credentials(world: World, name: str) -> str:
    described = world.reference.provider(name)
    return described.credentials if described else "see the provider's module"


def _providers(world: World) -> Page:
    """Every hosting path: whose machines, which agents can use it, and what to type."""
    sections = []
    for each in world.reference.providers:
        usable = [found.name for found in world.reference.harnesses if each.name in found.providers]
        facts = [
            ("Protocols", Entry(words.listing(each.protocols))),
            ("Credentials", Entry(each.credentials)),
            ("Harnesses that can use it", Entry(words.listing(usable, 20) or "none")),
        ]
        sections.append((each, facts))
    return Page(
        path=links.PROVIDERS,
        title="Hosting paths",
        template="providers.md.j2",
        description="Every way to reach a model: whose machines, credentials, protocols, and what to type.",
        context={"sections": sections},
        crumbs=(Crumb("Home", links.HOME), Crumb("Set up", links.SETUP)),
    )
