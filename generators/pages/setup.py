"""Setup: one page per harness on how it is installed, started and read, from what its module says."""

from __future__ import annotations

from collections.abc import Iterator

from generators.pages import links, words
from generators.pages.accounting import accounting_table
from generators.pages.rendering import Crumb, Page
from generators.pages.table import Column, Entry, link_entry, table
from generators.pages.world import World
from runner.records import HarnessReference

EXAMPLES = {
    "anthropic": "--provider anthropic --model MODEL",
    "openai": "--provider openai --model MODEL",
    "bedrock": "--provider bedrock --aws-region us-east-1 --model MODEL",
    "endpoint": "--endpoint http://HOST:PORT/v1 --model MODEL",
    "kiro": "--provider kiro --model MODEL",
    "litellm": "--provider litellm --endpoint http://HOST:PORT/v1 --model MODEL",
    "vllm": "--provider vllm --recipe RECIPE --model MODEL",
    "replay": "--provider replay",
}
"""What a user adds to ``invoke run`` for each provider; one that is not here is shown by its name."""
CREDENTIALS = {
    "anthropic": "the key in ANTHROPIC_API_KEY",
    "openai": "the key in OPENAI_API_KEY",
    "bedrock": "AWS credentials as boto3 finds them",
    "endpoint": "a key's variable named with --api-key-env, where the server wants one",
    "kiro": "signed in with kiro-cli, or the key in KIRO_API_KEY",
    "litellm": "a key's variable named with --api-key-env, where the server behind it wants one",
    "vllm": "none, or a key's variable named with --api-key-env",
    "replay": "none: it is built in, free and offline",
}


def pages(world: World) -> Iterator[Page]:
    """The index and one page for each harness that a module describes."""
    if world.demonstration or not world.reference.harnesses:
        return
    yield _index(world)
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
        context={"table": table("Harnesses that can be run", columns, rows), "links": links},
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
        [Entry(name), Entry(_command(each, name), code=True), Entry(_credential(name))]
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


def _command(each: HarnessReference, provider: str) -> str:
    flags = EXAMPLES.get(provider, f"--provider {provider} --model MODEL")
    return f"invoke run --harness {each.name} {flags}"


def _credential(provider: str) -> str:
    return CREDENTIALS.get(provider, "see the provider's module")
