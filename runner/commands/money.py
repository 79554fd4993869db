"""Money commands: what tokens cost, and what other lists of prices say."""

from __future__ import annotations

from pathlib import Path

from invoke import Context, task

from runner.commands.task import command, console, places, say
from runner.engine.flags import read_whole
from runner.engine.price_flags import PRICE_HELP
from runner.errors import UsageError

PROPOSAL_HELP = {
    "provider": "only prices of this provider",
    "model": "only models of this name; * stands for any characters",
    "known": "only models that the book has already",
    "out": "file that the diff goes to instead of the terminal",
    "write": "put the rows into datasets/prices/tokens/",
}


@task(
    positional=[],
    auto_shortflags=False,
    help={
        "model": "raw id to be priced (default: list the whole book)",
        "provider": "whose prices (default: everyone who has the model)",
        "on": "day, as in 2026-09-01 (default: today)",
        "region-class": "regional, global or any (default: what the id says)",
        "tier": "standard, batch, flex or priority (default: standard; in the list all of them)",
        "prompt-tokens": "length of one request's prompt, where prices depend on it",
        "credit-plans": "list the plans of vendors that bill by credits, instead",
    },
)
@command
def prices(
    context: Context,
    model: str = "",
    provider: str = "",
    on: str = "",
    region_class: str = "",
    tier: str = "",
    prompt_tokens: str = "",
    credit_plans: bool = False,
) -> int:
    """List the price book, or explain step by step what a model costs."""
    from runner.engine.credits_command import credits_command
    from runner.engine.prices_command import prices_command

    if credit_plans:
        if model or region_class or tier or prompt_tokens:
            remedy = "give --provider or --on with --credit-plans"
            raise UsageError("plans have days and a provider only", remedy=remedy)
        return credits_command(places(context), console(), say, provider=provider, on=on)
    return prices_command(
        places(context),
        console(),
        say,
        model=model,
        provider=provider,
        on=on,
        region_class=region_class,
        tier=tier,
        prompt_tokens=read_whole(prompt_tokens, "prompt_tokens") if prompt_tokens else None,
    )


@task(
    name="prices-import",
    positional=["source", "file"],
    auto_shortflags=False,
    help={
        "source": "whose list: litellm or llm-prices",
        "file": "the list, as JSON",
        "release": "version of the list, for the source of the rows",
        **PROPOSAL_HELP,
    },
)
@command
def prices_import(
    context: Context,
    source: str,
    file: str,
    release: str = "",
    provider: str = "",
    model: str = "*",
    known: bool = False,
    out: str = "",
    write: bool = False,
) -> int:
    """Show what another list of prices would change in the price book, as a diff; --write changes it."""
    from runner.engine.prices_proposing import Wanted, import_prices

    wanted = Wanted(provider, model, known, Path(out) if out else None, write)
    return import_prices(places(context), say, source, Path(file), release, wanted)


@task(
    name="prices-fetch",
    positional=["source"],
    auto_shortflags=False,
    help={
        "source": "whose prices: bedrock",
        "region": "region whose prices are asked for",
        **{name: text for name, text in PROPOSAL_HELP.items() if name != "provider"},
    },
)
@command
def prices_fetch(
    context: Context,
    source: str,
    region: str = "us-east-1",
    model: str = "*",
    known: bool = False,
    out: str = "",
    write: bool = False,
) -> int:
    """Show what the price list of the cloud would change in the price book; --write changes it."""
    import boto3

    from runner.engine.prices_proposing import LIST_REGION, Wanted, fetch_bedrock_prices

    if source != "bedrock":
        raise UsageError(f"no prices of {source!r} can be fetched", remedy="known: bedrock")
    client = boto3.client("pricing", region_name=LIST_REGION)
    wanted = Wanted("bedrock", model, known, Path(out) if out else None, write)
    return fetch_bedrock_prices(places(context), say, client, region, wanted)


@task(
    positional=["action", "trial"],
    auto_shortflags=False,
    help={
        "action": "explain: print how the cost came about, step by step",
        "trial": "path of a trial's folder below results/, or words of its path that fit one trial only",
        **PRICE_HELP,
    },
)
@command
def cost(
    context: Context,
    action: str,
    trial: str,
    price_date: str | None = None,
    commitment: str | None = None,
    usd_per_credit: str | None = None,
    credit_plan: str | None = None,
) -> int:
    """Explain the cost of one stored trial: tokens, prices, every way to know it, and how far they agree."""
    from runner.costs.price_choice import read_price_choice
    from runner.engine.cost_command import cost_command

    here = places(context)
    choice = read_price_choice(price_date, commitment, usd_per_credit, credit_plan, datasets=here.datasets)
    return cost_command(here, say, action, trial, choice)
